import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NOTICES } from '#infra/bundle/notices.ts'
import { EXAMPLE_MANIFEST } from '#openapi/manifest.ts'
import { buildCliPackage } from '#ops/cli-package.ts'
import { scratchFolder } from '#testkit/scratch.ts'

const run = promisify(execFile)

describe('the package of the command-line tool, installed in an empty folder', () => {
  let folder: string
  let remove = () => {}
  afterAll(() => remove())
  const aip = (...args: string[]) =>
    run(process.execPath, [path.join(folder, 'node_modules/.bin/aip'), ...args], { cwd: folder, env: {} }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    )

  beforeAll(async () => {
    const built = scratchFolder('cli-package-')
    const user = scratchFolder('cli-user-')
    folder = user.folder
    remove = () => {
      built.remove()
      user.remove()
    }
    await buildCliPackage(built.folder)
    await run('npm', ['pack', '--pack-destination', folder], { cwd: built.folder })
    const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
    writeFileSync(path.join(folder, 'package.json'), '{}')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], { cwd: folder })
  })

  it('is small, and brings no other package', () => {
    const installed = path.join(folder, 'node_modules/@agent-integration-platform/cli')
    const files = readdirSync(installed)
    expect(files.sort()).toEqual(['LICENSE', 'README.md', NOTICES, 'aip.js', 'package.json'])
    expect(statSync(path.join(installed, 'aip.js')).size).toBeLessThan(1_000_000)
    expect(readdirSync(path.join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      '@agent-integration-platform',
    ])
  })

  it('says its version and its commands', async () => {
    expect((await aip('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect((await aip('--help')).stdout).toContain('aip <command>')
  })

  it('validates a manifest offline, with the exit codes that it promises', async () => {
    mkdirSync(path.join(folder, 'agent'), { recursive: true })
    const good = path.join(folder, 'agent/good.json')
    writeFileSync(good, JSON.stringify(EXAMPLE_MANIFEST))
    const bad = path.join(folder, 'agent/bad.json')
    writeFileSync(bad, '{"id": "acme.stock-helper"}')
    const codes = await Promise.all([aip('validate', good), aip('validate', bad), aip('validate', 'none.json')])
    expect(codes.map(({ code }) => code)).toEqual([0, 1, 2])
    expect(existsSync(good)).toBe(true)
  })

  it('explains a missing key and an unknown option in one line, with exit code 2', async () => {
    for (const args of [['logs'], ['logs', '--nope']]) {
      const { code, stderr } = await aip(...args)
      expect([code, stderr.includes('    at ')]).toEqual([2, false])
    }
  })
})
