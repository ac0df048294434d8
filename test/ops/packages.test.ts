import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync, unzipSync } from 'fflate'
import { parseTar } from 'nanotar'
import { afterAll, describe, expect, it } from 'vitest'
import { packTarball, packWheel } from '#ops/packages/archives.ts'
import { buildWheel } from '#ops/packages/wheel.ts'
import { DEFAULT_SCOPE, packageScopeIn } from '#shared/kernel/package-names.ts'
import { scratchFolder } from '#testkit/scratch.ts'

const run = promisify(execFile)
const ROOT = path.resolve(import.meta.dirname, '../..')
const { folder, remove } = scratchFolder('packages-')
afterAll(() => remove())

const build = async (name: string, TZ: string): Promise<Record<string, string>> => {
  const to = path.join(folder, name)
  const code = `const { buildPackages } = await import('#ops/packages.ts'); await buildPackages(${JSON.stringify(to)})`
  await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: ROOT, env: { ...process.env, TZ } })
  return Object.fromEntries(
    readdirSync(to).map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(path.join(to, file)))
        .digest('hex'),
    ]),
  )
}

describe('the packages that a build makes', () => {
  it('gives the same bytes in every time zone, and from any folder', async () => {
    const hashes = await Promise.all([build('one', 'America/Los_Angeles'), build('another/one', 'Asia/Kolkata')])
    expect(Object.keys(hashes[0]).length).toBe(4)
    expect(hashes[1]).toEqual(hashes[0])
  })

  it('gives archives the same bytes whatever the order of their files', () => {
    const [a, b] = [Buffer.from('a'), Buffer.from('b')]
    for (const pack of [packTarball, packWheel]) expect(pack({ a, b })).toEqual(pack({ b, a }))
  })

  it('keeps contents, and makes programs executable', () => {
    const tar = packTarball({ 'aip.js': Buffer.from('code'), 'package.json': Buffer.from('{}') }, ['aip.js'])
    expect(parseTar(gunzipSync(tar)).map(({ name, text, attrs }) => [name, text, attrs?.mode])).toEqual([
      ['package/aip.js', 'code', '0000755'],
      ['package/package.json', '{}', '0000644'],
    ])
  })

  it('gives the wheel what its pyproject.toml declares, and a list of all files with their hashes', async () => {
    const wheel = await buildWheel(path.join(ROOT, 'packages/sdk-py'), Buffer.from('licence'))
    const files = unzipSync(wheel.content)
    const text = (name: string) => Buffer.from(files[name] ?? '').toString()
    const info = `agent_integration_platform-${wheel.version}.dist-info`
    expect(text(`${info}/METADATA`)).toMatch(/^Requires-Python: >=3\.10\nRequires-Dist: httpx/m)
    expect(text(`${info}/METADATA`)).toContain("Requires-Dist: flask>=3; extra == 'flask'\n")
    const listed = text(`${info}/RECORD`)
      .trim()
      .split('\n')
      .map((line) => line.split(',')[0])
    expect(listed.sort()).toEqual(Object.keys(files).sort())
  })

  it('have one version', () => {
    const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
    expect(readFileSync(path.join(ROOT, 'packages/sdk-py/pyproject.toml'), 'utf8')).toContain(
      `\nversion = "${version}"\n`,
    )
  })
})

describe('the scope of the npm packages', () => {
  const scopeIn = (packageScope: unknown) => packageScopeIn(JSON.stringify({ context: { packageScope } }))

  it('is the project’s own, or the one in cdk.json', () => {
    expect([scopeIn(undefined), scopeIn('@acme'), packageScopeIn('{}')]).toEqual([
      DEFAULT_SCOPE,
      '@acme',
      DEFAULT_SCOPE,
    ])
  })

  it.each(['acme', '@Acme', '@', '@a/b', '@a"', '@.a', 7])('can’t be %j', (scope) => {
    expect(() => scopeIn(scope)).toThrow('packageScope')
  })
})
