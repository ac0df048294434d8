import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { using } from '#testkit/using.ts'
import { must } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from '../python/environment.ts'
import { geminiSubset, strictOpenAi } from '../shared/kernel/json-schema/converters.ts'
import { ODD_SCHEMAS, startOddAgent } from './odd-agent.ts'
import { listedSchemas, startSchemaServer } from './schema-server.ts'

const run = promisify(execFile)

/**
 * Frameworks with what they need. Those of the older SDK of MCP don't say that they can't use the newer one (findings/), so its
 * version is named here.
 */
const PYTHON: Readonly<Record<string, string[]>> = {
  'crewai==1.15.30': ['crewai-tools[mcp]==1.15.30', 'mcp==1.30.0'],
  'autogen-ext==0.7.5': ['autogen-ext[mcp]==0.7.5', 'mcp==1.30.0'],
  'smolagents==1.26.0': ['smolagents[mcp]==1.26.0', 'mcp[ws]==1.30.0'],
  'semantic-kernel==1.45.0': ['semantic-kernel[mcp]==1.45.0'],
  'pydantic-ai-slim==2.66.0': ['pydantic-ai-slim[mcp]==2.66.0'],
}
const MASTRA = { '@mastra/mcp': '2.0.0', '@mastra/core': '1.71.0' }

/** The tools that are called, with every argument, because CrewAI sends null for those that a model leaves out (findings/). */
const CALLED = {
  look_ahead: {},
  property_names: { headers: { accept: 'text/plain' } },
  list_of_types: { count: 2 },
  recursive: { children: [] },
  union: { shape: { kind: 'circle', radius: 1 } },
  record: { values: { one: 1 } },
  tuple: { at: [52.1, 4.3] },
}

const hasPython = spawnSync('python3', ['-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))']).status === 0
if (!hasPython)
  console.warn('Skipped without Python 3.10 and venv (on Debian: apt install python3-venv): Python’s frameworks.')

const running = usingLocal()
const agent = using(
  () => startOddAgent(running.baseUrl),
  (made) => made.close(),
)
const schemas = listedSchemas()
const schemaServer = using(
  () => startSchemaServer(schemas),
  (made) => made.close(),
)
removingEnvironments()

const listed = async (): Promise<{ name: string; inputSchema: Record<string, unknown> }[]> => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  return (await must(running.baseUrl, 'POST', '/mcp', { token: agent.token, body })).result.tools
}

const toolName = (tool: string) => `a_${agent.slug}__${tool}`

const calls = () =>
  JSON.stringify(
    Object.fromEntries(Object.entries(CALLED).map(([tool, given]) => [toolName(tool), { name: 'Ada', ...given }])),
  )

/** A name without what frameworks change about it. */
const plain = (name: string) => name.replace(/^platform_/, '').replaceAll(/[-_]+/g, '_')

const expectAll = async (
  framework: string,
  { names, answers }: { names: string[]; answers: Record<string, string> },
) => {
  const all = (await listed()).map(({ name }) => plain(name)).sort()
  console.log(`${framework}: ${names.length} of ${all.length} tools`)
  expect(names.map(plain).sort()).toEqual(all)
  for (const tool of Object.keys(CALLED))
    expect(answers[toolName(tool)], `the answer of ${tool}`).toContain('Hello, Ada!')
}

const expectEverySchema = (framework: string, { names }: { names: string[] }) => {
  console.log(`${framework}: ${names.length} of ${schemas.size} schemas`)
  expect(names.map(plain).sort()).toEqual([...schemas.keys()].sort())
}

it('the list has tools of the platform and every tool with an odd schema', async () => {
  const names = (await listed()).map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining([...Object.keys(ODD_SCHEMAS).map(toolName), 'workspace_info', 'save_file']),
  )
})

describe.each([
  ['the strict form of OpenAI', strictOpenAi],
  ['the subset of Gemini', geminiSubset],
])('a converter to %s', (_form, faultsOf) => {
  it('translates every listed schema, and the names begin with a letter', async () => {
    for (const { name, inputSchema } of await listed()) {
      expect([name, faultsOf(inputSchema)]).toEqual([name, []])
      expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
    }
  })
})

describe.skipIf(!hasPython).each(Object.entries(PYTHON))('%s', (framework, packages) => {
  let python = ''
  beforeAll(async () => {
    python = (await environmentOf('framework', packages)).python
  })

  const told = async (url: string, called: string) => {
    const program = path.join(ROOT, 'test/frameworks/tools.py')
    const name = framework.replace(/(-slim|-ext)?==.*/, '')
    const { stdout } = await run(
      python,
      [program, name, url, await agent.newCaller(), called],
      // They send telemetry otherwise.
      {
        env: {
          PATH: process.env.PATH,
          HOME: path.dirname(python),
          CREWAI_DISABLE_TELEMETRY: 'true',
          OTEL_SDK_DISABLED: 'true',
        },
        maxBuffer: 1 << 26,
      },
    )
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  }

  it('lists every tool and calls those with odd schemas', async () => {
    await expectAll(framework, await told(`${running.baseUrl}/mcp`, calls()))
  })

  it('loads every schema of the JSON Schema Test Suite and of schema libraries in its portable form', async () => {
    expectEverySchema(framework, await told(schemaServer.url, '{}'))
  })
})

describe(`@mastra/mcp@${MASTRA['@mastra/mcp']}`, () => {
  const { folder, remove } = scratchFolder('mastra-')
  afterAll(remove)
  beforeAll(async () => {
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies: MASTRA }))
    copyFileSync(path.join(ROOT, 'test/frameworks/mastra.mjs'), path.join(folder, 'mastra.mjs'))
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder })
  })

  const told = async (url: string, called: string) => {
    const { stdout } = await run(
      process.execPath,
      [path.join(folder, 'mastra.mjs'), url, await agent.newCaller(), called],
      {
        cwd: folder,
        env: { ...process.env, MASTRA_TELEMETRY_DISABLED: '1' },
        maxBuffer: 1 << 26,
      },
    )
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  }

  it('lists every tool and calls those with odd schemas', async () => {
    await expectAll('Mastra', await told(`${running.baseUrl}/mcp`, calls()))
  })

  it('loads every schema of the JSON Schema Test Suite and of schema libraries in its portable form', async () => {
    expectEverySchema('Mastra', await told(schemaServer.url, '{}'))
  })
})
