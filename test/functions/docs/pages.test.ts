import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBuiltFiles } from '#functions/docs/files.ts'
import { pageEndpoints } from '#functions/docs/pages.ts'
import { createLogger } from '#shared/adapters/logger.ts'
import type { Deps } from '#shared/domain/deps.ts'
import { createPipeline, type RequestHandler } from '#shared/http/pipeline.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { ERRORS } from '#shared/kernel/errors.ts'
import { buildOpenApi } from '#shared/openapi/build.ts'

const BASE = 'https://platform.test/stage'

let folder: string
let handle: RequestHandler

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docs-'))
  await buildOpenApi(folder)
  const deps = { settings: { baseUrl: BASE }, clock: systemClock, log: createLogger('silent', {}) } as unknown as Deps
  const files = openBuiltFiles([join(folder, 'openapi'), join(folder, 'docs-assets')])
  handle = createPipeline(pageEndpoints(files), {}, async () => deps)
})

afterAll(() => rm(folder, { recursive: true }))

const get = async (path: string, headers: Record<string, string> = {}) => {
  const event = { httpMethod: 'GET', path, headers, body: null, requestContext: {} } as unknown as APIGatewayProxyEvent
  const { statusCode, headers: answered, body } = await handle(event, {} as Context)
  return { status: statusCode, headers: answered as Record<string, string>, body }
}

describe('GET /openapi.json', () => {
  it('is the built document with this deployment’s address everywhere', async () => {
    const { status, headers, body } = await get('/openapi.json')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    const document = JSON.parse(body)
    expect(document.openapi).toBe('3.1.0')
    expect(document.servers).toEqual([{ url: BASE }])
    expect(document.components.securitySchemes.integration.flows.authorizationCode.tokenUrl).toBe(`${BASE}/oauth/token`)
    expect(body).not.toContain('base-url.invalid')
  })

  it('answers 304 to whoever has it, also behind a gateway that weakened the tag', async () => {
    const { headers } = await get('/openapi.json')
    const etag = headers.etag ?? ''
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`]) {
      expect(await get('/openapi.json', { 'if-none-match': sent })).toMatchObject({ status: 304, body: '' })
    }
    expect((await get('/openapi.json', { 'if-none-match': '"other"' })).status).toBe(200)
  })
})

describe('GET /docs', () => {
  it('is a page that loads nothing from elsewhere, with an anchor per error code', async () => {
    const { status, headers, body } = await get('/docs')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    for (const code of Object.keys(ERRORS)) expect(body).toContain(`id="${code}"`)
  })

  it('serves each script and style that the page names, for good', async () => {
    const { body } = await get('/docs')
    const assets = [...body.matchAll(/(?:src|href|data-engine)="(docs\/assets\/[^"]+)"/g)].map(([, path]) => `/${path}`)
    expect(assets.length).toBeGreaterThanOrEqual(2)
    for (const asset of assets) {
      const answer = await get(asset)
      expect(answer.status, asset).toBe(200)
      expect(answer.headers['content-type'], asset).toMatch(/^text\/(css|javascript); charset=utf-8$/)
      expect(answer.headers['cache-control'], asset).toContain('immutable')
    }
  })

  it('serves nothing that the build did not list', async () => {
    for (const name of ['index.json', 'openapi.json', '..%2Findex.cjs', '%2e%2e%2fopenapi.json', 'x.js', '%00']) {
      const { status, body } = await get(`/docs/assets/${name}`)
      expect([status, JSON.parse(body).error.code], name).toEqual([404, 'not_found'])
    }
  })

  it('is where the root leads', async () => {
    expect(await get('/')).toMatchObject({ status: 302, headers: { location: `${BASE}/docs` } })
  })
})

describe('GET /schemas/manifest.json', () => {
  it('is the manifest’s JSON Schema under its own address', async () => {
    const { status, headers, body } = await get('/schemas/manifest.json')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/schema+json; charset=utf-8')
    expect(JSON.parse(body).$id).toBe(`${BASE}/schemas/manifest.json`)
  })
})

describe('any other path', () => {
  it('is not found, in the platform’s words', async () => {
    const { status, body } = await get('/nothing/here')
    expect([status, JSON.parse(body).error.code]).toEqual([404, 'not_found'])
  })
})
