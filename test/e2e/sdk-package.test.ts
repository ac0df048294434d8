import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { ROOT } from '#local/prepare.ts'
import { buildCliPackage } from '#ops/cli-package.ts'
import { buildSdkPackage } from '#ops/sdk-package.ts'
import { isSampled } from '#testkit/sampling.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { testSdkAgent } from './sdk-agent.ts'
import { until } from './support.ts'
import { usingLocal } from './using-local.ts'

const run = promisify(execFile)
const running = usingLocal()

let folder: string
let remove = () => {}
beforeAll(async () => {
  const built = scratchFolder('sdk-package-')
  const cli = scratchFolder('cli-package-')
  const user = scratchFolder('sdk-user-')
  folder = user.folder
  remove = () => {
    built.remove()
    cli.remove()
    user.remove()
  }
  await Promise.all([buildSdkPackage(built.folder), buildCliPackage(cli.folder)])
  const dependencies = ['openapi-fetch', 'openapi-typescript-helpers'].map((name) =>
    path.join(ROOT, 'node_modules', name),
  )
  await run('npm', ['pack', '--pack-destination', folder, built.folder, cli.folder, ...dependencies], { cwd: folder })
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs.map((name) => `./${name}`)], {
    cwd: folder,
  })
  cpSync(path.join(ROOT, 'test/packages/sdk-ts/agent.ts'), path.join(folder, 'agent.ts'))
})
afterAll(() => remove())

describe('the agent SDK, packed and installed in an empty folder', () => {
  it('is small, and brings two small packages', () => {
    const scope = path.join(folder, 'node_modules/@agent-integration-platform/sdk')
    const bytes = readdirSync(scope)
      .filter((name) => name.endsWith('.js'))
      .reduce((sum, name) => sum + statSync(path.join(scope, name)).size, 0)
    expect(bytes).toBeLessThan(50_000)
    expect(readdirSync(path.join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      '@agent-integration-platform',
      'openapi-fetch',
      'openapi-typescript-helpers',
    ])
  })

  const compilers: [resolution: string, version: string, compiler: string][] = [['nodenext', '7', 'typescript']]
  // Takes 8 seconds.
  if (process.env.DEEP) compilers.push(['bundler', '5.9', 'typescript-5'])
  it.each(compilers)('is typed with module resolution %s of TypeScript %s', async (resolution, _version, compiler) => {
    const modules = ['--module', resolution === 'nodenext' ? resolution : 'esnext', '--moduleResolution', resolution]
    const lib = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,dom,dom.iterable']
    const types = ['--types', 'node', '--typeRoots', path.join(ROOT, 'node_modules/@types')]
    const tsc = path.join(ROOT, 'node_modules', compiler, 'bin/tsc')
    const { stdout } = await run(process.execPath, [tsc, ...lib, ...modules, ...types, 'agent.ts'], {
      cwd: folder,
    }).catch((error: { stdout: string }) => error)
    expect(stdout).toBe('')
  })
})

// The hosted quickstart goes the same way, with the tool from its sources (test/e2e/guides.test.ts).
describe.runIf(isSampled(0, 2))('from an empty folder to a review, with the packages alone', () => {
  const children: ReturnType<typeof spawn>[] = []
  afterAll(async () => {
    for (const child of children) {
      if (child.exitCode !== null) continue
      child.kill()
      await once(child, 'exit')
    }
  })

  it('register, init, publish, listen, test-run, promote and submit lead to in_review', async () => {
    const place = path.join(folder, 'greeter')
    const env = { PATH: process.env.PATH, AIP_CONFIG: path.join(folder, 'config'), PLATFORM_URL: running.baseUrl }
    const start = (program: string, args: string[], more: object = {}) => {
      const child = spawn(program, args, { cwd: place, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] })
      children.push(child)
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += piece))
      return { exit: once(child, 'close').then(([code]) => code as number), output: () => output }
    }
    const bin = path.join(folder, 'node_modules/.bin/aip')
    /** Runs a command that must succeed. */
    const aip = async (...args: string[]): Promise<string> => {
      const { exit, output } = start(process.execPath, [bin, ...args])
      if ((await exit) !== 0) throw new Error(`aip ${args.join(' ')}: ${output()}`)
      return output()
    }
    const unique = `greeter-${Date.now()}`
    const at = performance.now()
    mkdirSync(place)
    await aip('register', '--email', `${unique}@example.com`, '--name', unique)
    await aip('init', '--ts', '--slug', unique)
    const port = String(await freePort())
    // The folder above has the SDK, as npm install would put it here.
    const agent = start(process.execPath, ['--env-file=.env', 'agent.ts'], { PORT: port })
    await until(() => agent.output().includes('listening') || undefined)
    await aip('validate')
    expect(await aip('publish')).toContain(`published ${unique} v1.0.0`)
    const listener = start(process.execPath, [bin, 'listen', '--forward-to', `127.0.0.1:${port}`])
    await until(() => listener.output().includes('Listening for') || undefined)
    const run = await aip('test-run', '--follow', '--input', '{"name": "Ada"}')
    for (const text of ['Writing a greeting', 'succeeded', 'Hello, Ada!']) expect(run).toContain(text)
    await aip('promote', '1.0.0')
    await aip('apps', 'update', '--description', 'Greets.', '--support-email', 'help@example.com')
    await aip('apps', 'update', '--logo-url', 'https://a.example/l.png', '--privacy-url', 'https://a.example/privacy')
    expect(await aip('submit')).toContain('in_review')
    expect(JSON.parse(await aip('apps', 'show', '--json'))).toMatchObject({ slug: unique, status: 'in_review' })
    if (process.env.STOPWATCH) console.log(`in review after ${Math.round(performance.now() - at)} ms`)
    expect(readFileSync(path.join(place, '.gitignore'), 'utf8')).toContain('.env')
  })
})

testSdkAgent(running, (env) =>
  spawn(process.execPath, ['agent.ts'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...env },
  }),
)
