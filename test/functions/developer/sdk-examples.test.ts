import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sdkEndpoints } from '#functions/developer/sdk-examples.ts'
import { buildSdkExamples } from '#openapi/sdk-examples.ts'
import { createLogger } from '#shared/adapters/logger.ts'
import type { Deps } from '#shared/foundation/work/work.ts'
import { openBuiltFiles } from '#shared/http/built-files.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { systemClock } from '#shared/kernel/clock.ts'

const LOCAL = 'http://127.0.0.1:3000'
const PATH = '/api/v1/dev/sdk/examples'
const SOURCES = new URL('../../../examples/sdk/', import.meta.url)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sdk-'))
  await buildSdkExamples(folder)
})
afterAll(() => rm(folder, { recursive: true }))

const get = async (path: string, { baseUrl = LOCAL, headers = {} } = {}) => {
  const deps = { settings: { baseUrl }, clock: systemClock, log: createLogger('silent') } as unknown as Deps
  const handle = createPipeline(sdkEndpoints(openBuiltFiles([folder])), {}, async () => deps)
  const event = { httpMethod: 'GET', path, headers, body: null, requestContext: {} } as unknown as APIGatewayProxyEvent
  const answer = await handle(event, {} as Context)
  return { status: answer.statusCode, headers: answer.headers as Record<string, string>, body: answer.body }
}

describe('GET /api/v1/dev/sdk/examples', () => {
  it('lists every file of examples/sdk, starting with the contract’s four', async () => {
    const { status, body } = await get(PATH)
    const { items, next_cursor, has_more } = JSON.parse(body)
    expect([status, next_cursor, has_more]).toEqual([200, null, false])
    const names = items.map(({ name }: { name: string }) => name)
    expect(names.slice(0, 4)).toEqual(['main.py', 'callback.py', 'install.py', 'afai.agent.json'])
    const sources = (await readdir(SOURCES, { withFileTypes: true })).filter((entry) => entry.isFile())
    expect([...names].sort()).toEqual(sources.map(({ name }) => name).sort())
  })

  it('gives the URL and the size of each', async () => {
    for (const baseUrl of [LOCAL, 'https://platform.test/stage']) {
      const { items } = JSON.parse((await get(PATH, { baseUrl })).body)
      for (const { name, url, size } of items) {
        expect(url).toBe(`${baseUrl}${PATH}/${name}`)
        expect(Buffer.byteLength((await get(`${PATH}/${name}`, { baseUrl })).body), name).toBe(size)
      }
    }
  })
})

describe('GET /api/v1/dev/sdk/examples/{name}', () => {
  it.each([
    ['main.py', 'text/x-python; charset=utf-8'],
    ['callback.py', 'text/x-python; charset=utf-8'],
    ['install.py', 'text/x-python; charset=utf-8'],
    ['main.ts', 'text/x-typescript; charset=utf-8'],
    ['callback.ts', 'text/x-typescript; charset=utf-8'],
    ['install.ts', 'text/x-typescript; charset=utf-8'],
    ['afai.agent.json', 'application/json; charset=utf-8'],
    ['vectors.json', 'application/json; charset=utf-8'],
  ])('serves %s unchanged, as %s', async (name, type) => {
    const { status, headers, body } = await get(`${PATH}/${name}`)
    expect([status, headers['content-type']]).toEqual([200, type])
    expect(body).toBe(await readFile(new URL(name, SOURCES), 'utf8'))
    expect((await get(`${PATH}/${name}`, { headers: { 'if-none-match': headers.etag } })).status).toBe(304)
  })

  it('contains the address of the platform that serves it', async () => {
    const baseUrl = 'https://platform.test/stage'
    const manifest = JSON.parse((await get(`${PATH}/afai.agent.json`, { baseUrl })).body)
    expect(manifest.$schema).toBe(`${baseUrl}/schemas/manifest.json`)
    const { items } = JSON.parse((await get(PATH, { baseUrl })).body)
    for (const { name } of items) expect((await get(`${PATH}/${name}`, { baseUrl })).body, name).not.toContain(LOCAL)
  })

  it.each(['main.rb', 'sdk-main.py', 'sdk-examples.json', '..%2Findex.cjs', '%00'])(
    'answers not_found for %s',
    async (name) => {
      const { status, body } = await get(`${PATH}/${name}`)
      expect([status, JSON.parse(body).error.code]).toEqual([404, 'not_found'])
    },
  )
})
