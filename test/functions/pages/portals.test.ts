import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageEndpoints as developerEndpoints } from '#functions/pages/developers.ts'
import { pageEndpoints as staffEndpoints } from '#functions/pages/staff.ts'
import { createLogger } from '#shared/adapters/logger.ts'
import type { Deps } from '#shared/foundation/work/work.ts'
import { openBuiltFiles } from '#shared/http/built-files.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { DEFAULT_BRAND } from '#shared/kernel/brand.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { buildAdmin, firstLoadBytes as staffBytes } from '#web/admin/build.ts'
import { buildDevelopers, firstLoadBytes as developerBytes } from '#web/developers/build.ts'

const PAGES = [
  {
    name: 'developers',
    build: buildDevelopers,
    pageEndpoints: developerEndpoints,
    firstLoadBytes: developerBytes,
    files: 'developers-files.json',
    foreign: 'admin-session',
  },
  {
    name: 'staff',
    build: buildAdmin,
    pageEndpoints: staffEndpoints,
    firstLoadBytes: staffBytes,
    files: 'admin-files.json',
    foreign: 'console-session',
  },
]

describe.each(PAGES)('GET /$name', ({ name: page, build, pageEndpoints, firstLoadBytes, files, foreign }) => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), `${page}-`))
    await build(folder)
  })
  afterAll(() => rm(folder, { recursive: true }))

  const get = async (path: string, headers: Record<string, string> = {}) => {
    const settings = { baseUrl: 'https://platform.test/stage', brand: DEFAULT_BRAND }
    const deps = { settings, clock: systemClock, log: createLogger('silent') } as unknown as Deps
    const handler = createPipeline(pageEndpoints(openBuiltFiles([folder])), {}, async () => deps)
    const event = {
      httpMethod: 'GET',
      path,
      headers,
      body: null,
      requestContext: {},
    } as unknown as APIGatewayProxyEvent
    const { statusCode, headers: answered, body } = await handler(event, {} as Context)
    return { status: statusCode, headers: answered as Record<string, string>, body }
  }

  it('contains no inline script or style, and loads its own files only, by relative paths', async () => {
    const { status, headers, body } = await get(`/${page}`)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(body).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]* src=)/)
    const addresses = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address)
    expect(addresses.length).toBeGreaterThan(2)
    for (const address of addresses)
      expect(address).toMatch(new RegExp(`^(${page}/assets/[\\w-]+\\.(js|css)|\\./brand\\.(css|svg)\\?v=[\\da-f]{8})$`))
  })

  it('can’t be framed, runs only its own scripts, and loads nothing from elsewhere, not even an image', async () => {
    const { headers } = await get(`/${page}`)
    expect(headers['content-security-policy']?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    })
  })

  it('is revalidated at each visit, and not sent again', async () => {
    const { headers } = await get(`/${page}`)
    expect(headers['cache-control']).toBe('no-cache')
    expect(await get(`/${page}`, { 'if-none-match': headers.etag ?? '' })).toMatchObject({ status: 304, body: '' })
  })

  it('has files that are cached for a year', async () => {
    const { body } = await get(`/${page}`)
    for (const [, name] of body.matchAll(new RegExp(`${page}/assets/([\\w.-]+)"`, 'g'))) {
      const { status, headers } = await get(`/${page}/assets/${name}`)
      expect(status).toBe(200)
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(headers['content-type']).toMatch(/^text\/(javascript|css); charset=utf-8$/)
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
  })

  it.each(['nothing.js', files, 'fingerprint', '..%2Findex.cjs'])(
    'serves only files that are built for browsers, not %s',
    async (name) => {
      const { status, body } = await get(`/${page}/assets/${name}`)
      expect(status).toBe(404)
      expect(JSON.parse(body).error.code).toBe('not_found')
    },
  )

  it('loads less than 40 KB of compressed script before the first render', async () => {
    const bytes = await firstLoadBytes(folder)
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(40_000)
  })

  it('contains nothing of another page’s session', async () => {
    const built = JSON.parse(await readFile(join(folder, files), 'utf8'))
    for (const { name } of built.files) expect(await readFile(join(folder, name), 'utf8')).not.toContain(foreign)
  })
})
