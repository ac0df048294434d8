import { execFile, spawn } from 'node:child_process'
import { cpSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { buildSdkPackage } from '#ops/sdk-package.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { testSdkAgent } from './sdk-agent.ts'
import { usingLocal } from './using-local.ts'

const run = promisify(execFile)
const running = usingLocal()

let folder: string
let remove = () => {}
beforeAll(async () => {
  const built = scratchFolder('sdk-package-')
  const user = scratchFolder('sdk-user-')
  folder = user.folder
  remove = () => {
    built.remove()
    user.remove()
  }
  await buildSdkPackage(built.folder)
  const dependencies = ['openapi-fetch', 'openapi-typescript-helpers'].map((name) =>
    path.join(ROOT, 'node_modules', name),
  )
  await run('npm', ['pack', '--pack-destination', folder, built.folder, ...dependencies], { cwd: folder })
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
    expect(bytes).toBeLessThan(54_000)
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
    const lib = [
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2022',
      '--lib',
      'es2023,dom,dom.iterable',
    ]
    const types = ['--types', 'node,aws-lambda', '--typeRoots', path.join(ROOT, 'node_modules/@types')]
    const tsc = path.join(ROOT, 'node_modules', compiler, 'bin/tsc')
    const { stdout } = await run(process.execPath, [tsc, ...lib, ...modules, ...types, 'agent.ts'], {
      cwd: folder,
    }).catch((error: { stdout: string }) => error)
    expect(stdout).toBe('')
  })
})

testSdkAgent(running, (env) =>
  spawn(process.execPath, ['agent.ts'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...env },
  }),
)
