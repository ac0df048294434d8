import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { gunzipSync } from 'fflate'
import { parseTar } from 'nanotar'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageEndpoints } from '#functions/docs/packages.ts'
import { buildPackages } from '#ops/packages.ts'
import { createLogger } from '#shared/adapters/logger.ts'
import type { Deps } from '#shared/foundation/work/work.ts'
import { openBuiltFiles } from '#shared/http/built-files.ts'
import type { RequestHandler } from '#shared/http/exchange.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { startBucket } from '#testkit/bucket.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { using } from '#testkit/using.ts'

const BASE = 'https://platform.test/stage'
const SCOPE = '@acme'
const CLI = `/packages/npm/${SCOPE}%2fcli`

const { folder, remove } = scratchFolder('packages-')
const bucket = using(startBucket, ({ stop }) => stop())
let handle: RequestHandler

/** Deploys a build, as an instance of its function. */
const deploy = (build: string, objects = bucket.objects): RequestHandler => {
  const deps = { settings: { baseUrl: BASE }, clock: systemClock, log: createLogger('silent'), objects }
  const endpoints = packageEndpoints(openBuiltFiles([join(folder, build)]))
  return createPipeline(endpoints, {}, async () => deps as unknown as Deps)
}

beforeAll(async () => {
  await buildPackages(join(folder, 'acme'), SCOPE)
  handle = deploy('acme')
})
afterAll(() => remove())

const get = async (path: string, headers: Record<string, string> = {}, from = handle) => {
  const event = { httpMethod: 'GET', path, headers, body: null, requestContext: {} } as unknown as APIGatewayProxyEvent
  const { statusCode, headers: answered, body, isBase64Encoded } = await from(event, {} as Context)
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
  return { status: statusCode, headers: answered as Record<string, string>, bytes, text: bytes.toString() }
}
const json = async (path: string, accept = '*/*') => JSON.parse((await get(path, { accept })).text)
const pathOf = (url: string): string => url.slice(BASE.length)
const hash = (algorithm: string, data: Uint8Array, encoding: 'hex' | 'base64') =>
  createHash(algorithm).update(data).digest(encoding)

describe('the platform’s packages', () => {
  it('are listed with their files, and each file has the size and the hashes that the list gives', async () => {
    const { registry, index, packages } = await json('/packages/')
    expect([registry, index]).toEqual([`${BASE}/packages/npm/`, `${BASE}/packages/simple/`])
    expect(packages.map(({ name }: { name: string }) => name)).toEqual([
      `${SCOPE}/cli`,
      `${SCOPE}/sdk`,
      'agent-integration-platform',
    ])
    for (const { url, size, sha256, integrity } of packages) {
      const { bytes } = await get(pathOf(url))
      expect([bytes.length, hash('sha256', bytes, 'hex')]).toEqual([size, sha256])
      expect(`sha512-${hash('sha512', bytes, 'base64')}`).toBe(integrity)
    }
  })

  it('names only its own addresses, and gives each file with the hashes that npm, pip and uv check', async () => {
    const manifest = await json(CLI)
    const [version] = Object.values<{ dist: { tarball: string; shasum: string; integrity: string } }>(manifest.versions)
    const { bytes } = await get(pathOf(version?.dist.tarball ?? ''))
    expect(version?.dist).toEqual({
      tarball: `${BASE}${CLI.replace('%2f', '/')}/-/${hash('sha256', bytes, 'hex')}/cli-${manifest['dist-tags'].latest}.tgz`,
      shasum: hash('sha1', bytes, 'hex'),
      integrity: `sha512-${hash('sha512', bytes, 'base64')}`,
    })
    const page = await get('/packages/simple/agent-integration-platform/')
    const [, url = '', sha256] = /href="([^"#]+)#sha256=(\w+)"/.exec(page.text) ?? []
    expect(hash('sha256', (await get(pathOf(url))).bytes, 'hex')).toBe(sha256)
    for (const path of ['/packages', CLI, '/packages/simple', '/packages/simple/agent-integration-platform']) {
      const { text } = await get(path, { accept: 'text/html' })
      for (const [address] of text.matchAll(/https?:\/\/[^\s"<]+/g)) expect(address.startsWith(BASE)).toBe(true)
    }
  })

  it('are a page for browsers, with the commands that install them from here', async () => {
    const { headers, text } = await get('/packages/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', vary: 'accept' })
    expect(text).toContain(`npm install --global ${SCOPE}/cli --${SCOPE}:registry=${BASE}/packages/npm/`)
    expect(text).toMatch(/pip install 'agent-integration-platform @ https:[^']+\.whl#sha256=\w{64}'/)
  })

  it('are found by the names and the forms that package managers ask for', async () => {
    expect(await json(CLI.replace('%2f', '%2F'))).toEqual(await json(CLI))
    expect(await json(CLI.replace('%2f', '/'))).toEqual(await json(CLI))
    const short = await get(CLI, { accept: 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*' })
    expect(short.headers['content-type']).toBe('application/vnd.npm.install-v1+json')
    const { versions, time, 'dist-tags': tags } = JSON.parse(short.text)
    expect(versions[tags.latest]).toEqual({
      name: `${SCOPE}/cli`,
      version: tags.latest,
      bin: { aip: 'aip.js' },
      engines: { node: '>=20.12' },
      dist: expect.anything(),
    })
    expect(Object.keys(time)).toContain(tags.latest)
    for (const name of ['agent-integration-platform', 'Agent_Integration.Platform/']) {
      const { files } = await json(`/packages/simple/${name}`, 'application/vnd.pypi.simple.v1+json')
      expect(files).toMatchObject([{ 'requires-python': '>=3.10', hashes: { sha256: expect.any(String) } }])
    }
  })

  it('name no address among their dependencies, and run nothing when they are installed', async () => {
    for (const name of ['cli', 'sdk']) {
      const { versions } = await json(`/packages/npm/${SCOPE}/${name}`)
      for (const { scripts, dependencies = {}, ...others } of Object.values<Record<string, object>>(versions)) {
        expect([scripts, Object.keys(others).filter((key) => /Dependencies$|gypfile/.test(key))]).toEqual([
          undefined,
          [],
        ])
        for (const range of Object.values(dependencies)) expect(range).toMatch(/^[\d.]+$/)
      }
    }
  })

  it('carry the scope that an operator sets in their names, what they import and what the tool writes', async () => {
    const read = async (name: string): Promise<Record<string, string>> => {
      const { bytes } = await get(
        `/packages/npm/${SCOPE}/${name}/-/${name}-${(await json(CLI))['dist-tags'].latest}.tgz`,
      )
      return Object.fromEntries(parseTar(gunzipSync(bytes)).map((file) => [file.name, file.text]))
    }
    for (const files of [await read('cli'), await read('sdk')]) {
      expect(JSON.parse(files['package/package.json'] ?? '').name).toMatch(/^@acme\//)
      const unbranded = Object.keys(files).filter((name) => files[name]?.includes('@agent-integration-platform'))
      expect(unbranded).toEqual([])
    }
    expect((await read('sdk'))['package/README.md']).toContain('@acme/sdk/webhooks')
  })

  it('are answered with 304 to those who have them, and with not_found under any other name', async () => {
    const [{ url }] = (await json('/packages')).packages
    const file = pathOf(url)
    for (const path of ['/packages/', CLI, file.replace(/\/\w{64}/, ''), file]) {
      const { headers } = await get(path)
      expect((await get(path, { 'if-none-match': headers.etag ?? '' })).status).toBe(304)
      expect(headers['cache-control']).toBe(path === file ? 'public, max-age=31536000, immutable' : 'no-cache')
    }
    for (const path of [
      '/packages/npm/left-pad',
      '/packages/npm/@other%2fcli',
      '/packages/npm/@acme/cli/-/packages-files.json',
      '/packages/npm/@acme/cli/-/..%2f..%2findex.cjs',
      '/packages/npm/@acme/sdk/-/cli-0.1.0.tgz',
      '/packages/simple/requests/',
      '/packages/python/packages-files.json',
      `/packages/python/${'0'.repeat(64)}/a.whl`,
      `/packages/python/${'0'.repeat(64)}/..%2f..%2ftables%2f1.json`,
      `/packages/npm/@acme/cli/-/..%2ftables/1.tgz`,
      '/packages/npm/%E0%A4%A',
    ]) {
      const { status, text } = await get(path)
      expect([path, status, JSON.parse(text).error.code]).toEqual([path, 404, 'not_found'])
    }
  })
})

describe('packages of earlier deployments', () => {
  /** Writes a build of made-up packages. */
  const build = (version: string, content: string, scope = '@old'): string => {
    const name = `${scope}-${version}-${content}`
    const bytes = Buffer.from(content)
    mkdirSync(join(folder, name))
    const archive = (file: string) => {
      writeFileSync(join(folder, name, file), bytes)
      const digests = {
        sha1: hash('sha1', bytes, 'hex'),
        sha256: hash('sha256', bytes, 'hex'),
        sha512: hash('sha512', bytes, 'base64'),
      }
      return { file, size: bytes.length, ...digests }
    }
    const manifest = { name: `${scope}/cli`, version, description: '' }
    const table = {
      scope,
      time: '1985-10-26T08:15:00.000Z',
      npm: [{ manifest, ...archive(`cli-${version}.tgz`) }],
      python: [{ name: 'old', version, requiresPython: '>=3.10', ...archive(`old-${version}-py3-none-any.whl`) }],
    }
    writeFileSync(join(folder, name, 'packages-files.json'), JSON.stringify(table))
    return name
  }
  /** Deploys to a stage of its own. */
  const stage = () => {
    const prefix = `${Math.random()}/`
    const { objects } = bucket
    const own = {
      ...objects,
      get: (key: string) => objects.get(prefix + key),
      create: (key: string, bytes: Uint8Array, type: string) => objects.create(prefix + key, bytes, type),
    }
    return (name: string) => deploy(name, own)
  }
  const read = async (from: RequestHandler, path: string) => JSON.parse((await get(path, {}, from)).text)
  const described = async (from: RequestHandler, scope = '@old') => {
    const { 'dist-tags': tags, versions } = await read(from, `/packages/npm/${scope}/cli`)
    return { latest: tags.latest, versions: versions as Record<string, { dist: { tarball: string } }> }
  }
  const urlOf = async (from: RequestHandler, version: string) =>
    pathOf((await described(from)).versions[version]?.dist.tarball ?? '')
  const simple = async (from: RequestHandler): Promise<string[]> =>
    [...(await get('/packages/simple/old', {}, from)).text.matchAll(/href="([^#"]+)/g)].map(([, url = '']) =>
      pathOf(url),
    )

  it('stay under their URLs, which lock files have, and among the versions, while the newest is the one deployed', async () => {
    const onto = stage()
    const first = onto(build('1.0.0', 'one'))
    const [before, wheel = ''] = [await urlOf(first, '1.0.0'), (await simple(first))[0]]
    const second = onto(build('1.1.0', 'two'))
    expect(await described(second)).toMatchObject({ latest: '1.1.0', versions: { '1.0.0': {}, '1.1.0': {} } })
    expect(await urlOf(second, '1.0.0')).toBe(before)
    for (const url of [before, wheel, '/packages/npm/@old/cli/-/cli-1.0.0.tgz'])
      expect([url, (await get(url, {}, second)).text]).toEqual([url, 'one'])
    expect((await simple(second)).map((url) => url.split('/').at(-1))).toEqual([
      'old-1.0.0-py3-none-any.whl',
      'old-1.1.0-py3-none-any.whl',
    ])
    const { packages } = await read(second, '/packages')
    expect(packages.map(({ version }: { version: string }) => version)).toEqual(['1.1.0', '1.1.0'])
  })

  it('keep their bytes under their URLs if another build of the version is deployed', async () => {
    const onto = stage()
    const first = onto(build('2.0.0', 'one'))
    const before = await urlOf(first, '2.0.0')
    const second = onto(build('2.0.0', 'two'))
    const after = await urlOf(second, '2.0.0')
    expect([(await get(before, {}, second)).text, (await get(after, {}, second)).text]).toEqual(['one', 'two'])
    // An instance of the build before may still answer while traffic moves.
    expect((await get(after, {}, first)).text).toBe('two')
    const third = onto(build('2.1.0', 'three'))
    expect(await urlOf(third, '2.0.0')).toBe(after)
  })

  it('are all served after an older build was deployed again, which is then the newest', async () => {
    const onto = stage()
    const [one, two] = [build('3.0.0', 'one'), build('3.1.0', 'two')]
    for (const name of [one, two]) await described(onto(name))
    const { latest, versions } = await described(onto(one))
    expect([latest, Object.keys(versions).sort()]).toEqual(['3.0.0', ['3.0.0', '3.1.0']])
  })

  it('are all found after many deployments, and under the scope that they had', async () => {
    const onto = stage()
    const versions = Array.from({ length: 9 }, (_, n) => `4.${n}.0`)
    for (const version of versions) await described(onto(build(version, 'one')))
    const branded = onto(build('4.9.0', 'one', '@new'))
    expect(Object.keys((await described(branded)).versions)).toEqual(versions)
    expect(Object.keys((await described(branded, '@new')).versions)).toEqual(['4.9.0'])
  })

  it('are kept by each of two builds whose instances start at the same time', async () => {
    const onto = stage()
    const builds = [build('5.0.0', 'one'), build('5.1.0', 'two'), build('5.2.0', 'three')]
    await Promise.all(builds.map((name) => described(onto(name))))
    expect(Object.keys((await described(onto('acme'))).versions).sort()).toEqual(['5.0.0', '5.1.0', '5.2.0'])
  })
})
