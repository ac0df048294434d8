import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageEndpoints } from '#functions/docs/pages.ts'
import { openBuiltFiles } from '#functions/docs/support/files.ts'
import { requestFunctions } from '#functions/registry.ts'
import { buildOpenApi } from '#openapi/build.ts'
import { createLogger } from '#shared/adapters/logger.ts'
import type { Deps } from '#shared/foundation/work/work.ts'
import { DOCUMENT_NAMES, isDescribed } from '#shared/http/documents.ts'
import type { RequestHandler } from '#shared/http/exchange.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { DEFAULT_BRAND } from '#shared/kernel/brand.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { ERRORS } from '#shared/kernel/errors.ts'
import { settingSchema } from '#shared/kernel/settings/declared.ts'

const BASE = 'https://platform.test/stage'

let folder: string
let handle: RequestHandler
let ofAcme: RequestHandler

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docs-'))
  await buildOpenApi(folder)
  const served = (brand: unknown) => {
    const settings = { baseUrl: BASE, brand: settingSchema('brand').parse(brand) }
    const deps = { settings, clock: systemClock, log: createLogger('silent') } as unknown as Deps
    return createPipeline(pageEndpoints(files), {}, async () => deps)
  }
  const files = openBuiltFiles([join(folder, 'openapi'), join(folder, 'docs-assets')])
  handle = served(undefined)
  ofAcme = served({
    name: 'Acme Agents',
    accent: '#ffd400',
    logo: 'M2 2h20v20H2z',
    supportUrl: 'mailto:a"b@acme.example',
    statusUrl: 'https://status.acme.example?a=1&b',
  })
})

afterAll(() => rm(folder, { recursive: true }))

const get = async (path: string, headers: Record<string, string> = {}, by = handle) => {
  const event = { httpMethod: 'GET', path, headers, body: null, requestContext: {} } as unknown as APIGatewayProxyEvent
  const { statusCode, headers: answered, body } = await by(event, {} as Context)
  return { status: statusCode, headers: answered as Record<string, string>, body }
}

describe('an operator’s brand', () => {
  it.each(['/docs', '/docs/quickstart', '/docs/reference', '/llms.txt', '/openapi.json'])(
    'names the platform in %s instead of the default',
    async (path) => {
      expect((await get(path)).body).toContain(DEFAULT_BRAND.name)
      const { body } = await get(path, {}, ofAcme)
      expect(body).toContain('Acme Agents')
      expect(body).not.toContain(DEFAULT_BRAND.name)
    },
  )

  it('links to the operator’s help and incidents, and to nothing without them', async () => {
    for (const { body } of [await get('/docs/status'), await get('/docs/quickstart')])
      expect(body).not.toMatch(/data-link|Get help|Incidents and maintenance/)
    const { body } = await get('/docs/status', {}, ofAcme)
    expect(body).toContain('<a href="mailto:a&quot;b@acme.example">Get help</a>')
    expect(body).toContain('<a href="https://status.acme.example/?a=1&amp;b">Incidents and maintenance</a>')
  })

  it('gives the pages its colours and its mark, which browsers keep and can’t run', async () => {
    const style = await get('/brand.css', {}, ofAcme)
    expect(style.headers['content-type']).toBe('text/css; charset=utf-8')
    expect(style.body).not.toBe((await get('/brand.css')).body)
    const mark = await get('/brand.svg', {}, ofAcme)
    expect(mark.headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    expect(mark.body).toContain('#ffd400')
    expect(mark.body).toContain('M2 2h20v20H2z')
    expect(await get('/brand.svg', { 'if-none-match': mark.headers.etag ?? '' }, ofAcme)).toMatchObject({ status: 304 })
  })
})

describe('GET /openapi/{document}', () => {
  it.each(DOCUMENT_NAMES.filter((name) => name !== 'openapi'))(
    '%s.json has the operations of its API only, with the deployment’s address',
    async (name) => {
      const { status, body } = await get(`/openapi/${name}.json`)
      expect(status).toBe(200)
      const document = JSON.parse(body)
      expect(document.servers[0].url).toBe(BASE)
      const declared = Object.values(requestFunctions)
        .flat()
        .filter((endpoint) => isDescribed(name, endpoint))
      const ofOtherServers = name === 'integration' ? ['/files/{workspace_id}/{file_id}'] : []
      const paths = new Set([...declared.map(({ path }) => path), ...ofOtherServers])
      expect(Object.keys(document.paths).sort()).toEqual([...paths].sort())
    },
  )

  it.each(['openapi.json', 'integration', 'files.json', '..%2Fopenapi.json'])('%s is not found', async (name) => {
    expect((await get(`/openapi/${name}`)).status).toBe(404)
  })
})

describe('GET /openapi.json', () => {
  it('returns the built document with this deployment’s address everywhere', async () => {
    const { status, headers, body } = await get('/openapi.json')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    const document = JSON.parse(body)
    expect(document.openapi).toBe('3.1.0')
    expect(document.servers).toMatchObject([{ url: BASE }])
    expect(document.components.securitySchemes.integration.flows.authorizationCode.tokenUrl).toBe(
      `${BASE}/connect/token`,
    )
    expect(body).not.toContain('base-url.invalid')
  })

  it('answers 304 to clients that have it, even when a gateway weakened the ETag', async () => {
    const { headers } = await get('/openapi.json')
    const etag = headers.etag ?? ''
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`]) {
      expect(await get('/openapi.json', { 'if-none-match': sent })).toMatchObject({ status: 304, body: '' })
    }
    expect((await get('/openapi.json', { 'if-none-match': '"other"' })).status).toBe(200)
  })
})

describe('GET /docs', () => {
  it('returns a page without external resources, with an anchor per error code', async () => {
    const { status, headers, body } = await get('/docs')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    for (const code of Object.keys(ERRORS)) expect(body).toContain(`id="${code}"`)
  })

  it('serves each script and style of the page with a permanent cache lifetime', async () => {
    const pages = [(await get('/docs')).body, (await get('/docs/reference')).body, (await get('/docs/quickstart')).body]
    const named = pages.flatMap((body) => [...body.matchAll(/(?:src|href)="(?:\.\.\/)?(docs\/assets\/[^"]+)"/g)])
    const assets = [...new Set(named.map(([, path]) => `/${path}`))]
    // The style, the script, and the script that applies the reader's appearance before the first paint.
    expect(assets).toHaveLength(3)
    for (const asset of assets) {
      const answer = await get(asset)
      expect(answer.status, asset).toBe(200)
      expect(answer.headers['content-type'], asset).toMatch(/^text\/(css|javascript); charset=utf-8$/)
      expect(answer.headers['cache-control'], asset).toContain('immutable')
    }
  })

  it('serves only files that the build has listed', async () => {
    for (const name of ['index.json', 'openapi.json', '..%2Findex.cjs', '%2e%2e%2fopenapi.json', 'x.js', '%00']) {
      const { status, body } = await get(`/docs/assets/${name}`)
      expect([status, JSON.parse(body).error.code], name).toEqual([404, 'not_found'])
    }
  })

  it('is where / redirects to', async () => {
    expect(await get('/')).toMatchObject({ status: 302, headers: { location: `${BASE}/docs` } })
  })
})

describe('GET /docs/{page}', () => {
  it('returns a guide as a page or as Markdown, with this deployment’s address', async () => {
    const page = await get('/docs/oauth')
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.body).toContain('<h1 id="overview">Install with OAuth</h1>')
    const markdown = await get('/docs/oauth.md')
    expect([markdown.status, markdown.headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8'])
    expect(markdown.headers['access-control-allow-origin']).toBe('*')
    expect(markdown.body).toMatch(/^# Install with OAuth\n/)
    expect(markdown.body).toContain(`(${BASE}/api/v1/dev/sdk/examples/install.py)`)
    for (const { body } of [page, markdown]) expect(body).not.toContain('.invalid')
  })

  it('answers 304 to clients that have it', async () => {
    for (const path of ['/docs', '/docs/errors', '/docs/errors.md', '/docs/search.json', '/llms.txt']) {
      const { headers } = await get(path)
      expect((await get(path, { 'if-none-match': headers.etag ?? '' })).status, path).toBe(304)
    }
  })

  it('is not found for an unknown guide', async () => {
    for (const name of [
      'nothing',
      'index.html',
      'docs-files.json',
      '..%2Fopenapi.json',
      'quickstart.html',
      'quickstart.md.md',
    ]) {
      expect((await get(`/docs/${name}`)).status, name).toBe(404)
    }
  })
})

describe('GET /llms.txt and /llms-full.txt', () => {
  it('contain this deployment’s pages', async () => {
    const { status, headers, body } = await get('/llms.txt')
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    const addresses = [...body.matchAll(/\((https?:[^)]+)\)/g)].map(([, address = '']) => address)
    expect(addresses.length).toBeGreaterThan(10)
    for (const address of addresses) {
      expect(address.startsWith(`${BASE}/`), address).toBe(true)
      const path = address.slice(BASE.length)
      // The other two have endpoints of their own.
      if (!/^\/(api|\.well-known)/.test(path)) expect((await get(path)).status, path).toBe(200)
    }
    expect((await get('/llms-full.txt')).body).toContain('# Quickstart')
  })
})

describe('GET /schemas/manifest.json', () => {
  it('returns the manifest’s JSON Schema with its own address as id', async () => {
    const { status, headers, body } = await get('/schemas/manifest.json')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/schema+json; charset=utf-8')
    expect(JSON.parse(body).$id).toBe(`${BASE}/schemas/manifest.json`)
  })
})

describe('any other path', () => {
  it('is not found, with the platform’s error', async () => {
    const { status, body } = await get('/nothing/here')
    expect([status, JSON.parse(body).error.code]).toEqual([404, 'not_found'])
  })
})
