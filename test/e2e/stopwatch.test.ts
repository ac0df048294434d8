import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { ROOT } from '#local/prepare.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { type Block, blocksOf, kindOf, type Printed, runBlocks } from './guide-blocks.ts'
import { usingPublicRegistry } from './public-registry.ts'
import { pythonVersion } from './python.ts'
import { usingLocal } from './using-local.ts'

const run = promisify(execFile)
const running = usingLocal()
const registry = usingPublicRegistry()
const { folder, remove } = scratchFolder('stopwatch-')
afterAll(() => remove())

/** Outlives the tests, so that pip downloads packages of others once. */
const PIP_CACHE = path.join(ROOT, 'node_modules/.cache/pip')

/** Names a step by its first command that installs something or uses the tool. */
const titleOf = ({ code }: Block): string =>
  code.split('\n').find((line) => /^(npm|aip|python3)/.test(line)) ?? code.split('\n')[0] ?? ''

/** Follows the quickstart of this platform in an empty folder, as a reader of one language does. */
const follow = async (language: 'TypeScript' | 'Python'): Promise<Printed[]> => {
  const home = path.join(folder, language)
  mkdirSync(home)
  const port = String(await freePort())
  const blocks = blocksOf('hosted-quickstart').filter(({ tab }) => tab === undefined || tab === language)
  const own = `stopwatch-${language.toLowerCase()}`
  const put = (text: string) =>
    text
      .replaceAll('{{base_url}}', running.baseUrl)
      .replaceAll('8080', port)
      .replaceAll(/\b(greeter|lin)\b/g, own)
  return runBlocks(blocks, home, put, {
    PATH: `${path.join(home, 'global/bin')}:${path.dirname(process.execPath)}:${process.env.PATH}`,
    PORT: port,
    npm_config_prefix: path.join(home, 'global'),
    npm_config_registry: registry.url,
    npm_config_update_notifier: 'false',
    PIP_CACHE_DIR: PIP_CACHE,
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
  })
}

/** Prints the time of each step, which no test asserts: the machine does other things as well. */
const report = (language: string, steps: readonly Printed[]): void => {
  const rows = steps.map(
    ({ block, seconds }) => `  ${seconds.toFixed(1).padStart(5)} s  ${titleOf(block).slice(0, 90)}`,
  )
  const total = steps.reduce((sum, { seconds }) => sum + seconds, 0)
  process.stderr.write(
    `From an empty folder to a review, ${language}:\n${rows.join('\n')}\n  ${total.toFixed(1).padStart(5)} s  in all\n`,
  )
}

describe('an empty folder and the quickstart, with the platform’s own packages', () => {
  it('every command is followed in one language at least', () => {
    const commands = blocksOf('hosted-quickstart').filter(({ language }) => language === 'sh')
    expect(commands.filter((block) => kindOf(block) !== 'run')).toEqual([])
    expect(new Set(commands.map(({ tab }) => tab))).toEqual(new Set([undefined, 'TypeScript', 'Python']))
  })

  it.for(['TypeScript', 'Python'] as const)(
    'lead to a verified run and a review in %s',
    { timeout: 240_000 },
    async (language, { skip }) => {
      if (language === 'Python') {
        if ((await pythonVersion()) === undefined) skip('this machine has no python3')
        const at = performance.now()
        const others = ['httpx', 'uvicorn>=0.30', 'python-dotenv>=1']
        const args = [
          '-m',
          'pip',
          'download',
          '--quiet',
          '--retries',
          '1',
          '--timeout',
          '15',
          '--dest',
          folder,
          ...others,
        ]
        const downloaded = await run('python3', args, { env: { ...process.env, PIP_CACHE_DIR: PIP_CACHE } }).then(
          () => true,
          () => false,
        )
        if (!downloaded) skip('no package index is within reach')
        process.stderr.write(`pip’s downloads took ${((performance.now() - at) / 1_000).toFixed(1)} s\n`)
      }
      const steps = await follow(language)
      report(language, steps)
      const output = steps.map((step) => step.output).join('\n')
      for (const text of ['Writing a greeting', 'succeeded', 'Hello, Ada!', 'in_review']) expect(output).toContain(text)
      // Nothing of ours is asked of a public registry.
      expect(registry.asked.filter((name) => name !== '-' && !name.startsWith('openapi-'))).toEqual([])
    },
  )
})
