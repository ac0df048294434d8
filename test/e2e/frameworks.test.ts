import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { buildSdkPackage } from '#ops/sdk-package.ts'
import { lastResult, startModelServer } from '#testkit/model-server.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { using } from '#testkit/using.ts'
import { type FrameworkEnv, startFrameworkAgent, testFrameworkAgent } from './framework-agents.ts'
import { must } from './support.ts'
import { usingLocal } from './using-local.ts'

const running = usingLocal()
const model = using(startModelServer, (server) => server.close())

/** Packages of the frameworks, which the examples import as their developers would. */
const INSTALLED = ['ai', 'zod', '@ai-sdk', '@openai', '@langchain', 'openapi-fetch']

/** Makes OpenAI's SDK use the protocol that the scripted model speaks, and send no traces. */
const STUB = `import { setOpenAIAPI, setTracingDisabled } from '@openai/agents'
setOpenAIAPI('chat_completions')
setTracingDisabled(true)
`

const place = scratchFolder('frameworks-')
beforeAll(async () => {
  const modules = path.join(place.folder, 'node_modules')
  mkdirSync(modules)
  for (const name of INSTALLED) symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name))
  await buildSdkPackage(path.join(modules, '@agent-integration-platform/sdk'))
  cpSync(path.join(ROOT, 'examples/frameworks'), place.folder, { recursive: true })
  writeFileSync(path.join(place.folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(path.join(place.folder, 'stub.ts'), STUB)
})
afterAll(() => place.remove())

const start = (folder: string, env: FrameworkEnv, ...options: string[]) =>
  spawn(process.execPath, [...options, 'serve.ts'], {
    cwd: path.join(place.folder, folder),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...env },
  })

/** Takes some seconds. */
it.runIf(process.env.DEEP)('the examples are typed against the frameworks’ own types', async () => {
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext']
  const types = [
    '--allowImportingTsExtensions',
    '--types',
    'node',
    '--typeRoots',
    path.join(ROOT, 'node_modules/@types'),
  ]
  const files = ['ai-sdk', 'openai-agents', 'langgraph'].map((name) => `${name}/serve.ts`)
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, ...options, ...types, ...files], {
    cwd: place.folder,
  }).catch((error: { stdout: string }) => error)
  expect(stdout).toBe('')
})

describe('an agent of the AI SDK', () => {
  testFrameworkAgent(running, model, (env) => start('ai-sdk', env), false)

  it('that its own documentation shows runs unchanged', async () => {
    const page = readFileSync(path.join(ROOT, 'node_modules/ai/docs/03-agents/01-overview.mdx'), 'utf8')
    const [, agent = ''] = /```ts\n(import \{ ToolLoopAgent[^`]*?)\nconst result = /.exec(page) ?? []
    // The documentation fills these in with the reader's provider.
    const provider = `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
const provider = createOpenAICompatible({ name: 'm', baseURL: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY })`
    const source = agent.replace('__PROVIDER_IMPORT__;', provider).replace('__MODEL__', "provider('m')")
    const folder = path.join(place.folder, 'documented')
    mkdirSync(folder)
    writeFileSync(path.join(folder, 'agent.ts'), `${source}\nexport { weatherAgent as agent }\n`)
    cpSync(path.join(place.folder, 'ai-sdk/serve.ts'), path.join(folder, 'serve.ts'))
    model.always((request) => {
      const results = request.messages.filter(({ role }) => role === 'tool').length
      if (results === 0) return { calls: [{ tool: 'weather', arguments: { location: 'San Francisco' } }] }
      if (results === 1) return { calls: [{ tool: 'convertFahrenheitToCelsius', arguments: { temperature: 72 } }] }
      return { text: `Told: ${lastResult(request)}` }
    })
    const { agent: served } = await startFrameworkAgent(running, model, (env) => start('documented', env))
    const { run } = await must(running.baseUrl, 'POST', `/api/v1/dev/apps/${served.app.id}/test-run`, {
      headers: served.headers,
      body: { input: { question: 'What is the weather in San Francisco in celsius?' } },
    })
    expect(run).toMatchObject({ status: 'succeeded', output: { text: 'Told: {"celsius":22}' } })
    expect(run.steps.map(({ output }: { output: { tool: string } }) => output.tool)).toEqual([
      'weather',
      'convertFahrenheitToCelsius',
    ])
  })
})

describe('an agent of the OpenAI Agents SDK', () => {
  testFrameworkAgent(running, model, (env) => start('openai-agents', env, '--import', '../stub.ts'), false)
})

describe('a graph of LangGraph', () => {
  testFrameworkAgent(running, model, (env) => start('langgraph', env), true)
})
