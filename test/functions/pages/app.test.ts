import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageEndpoints } from '#functions/pages/app.ts'
import { createLogger } from '#shared/adapters/logger.ts'
import type { Deps } from '#shared/foundation/work/work.ts'
import { openBuiltFiles } from '#shared/http/built-files.ts'
import type { RequestHandler } from '#shared/http/exchange.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { DEFAULT_BRAND } from '#shared/kernel/brand.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { buildConsole, firstLoadBytes } from '#web/console/build.ts'

let folder: string

/** Creates the function as deployed, or as it runs locally. */
const serving = (local: boolean): RequestHandler => {
  const telegramLinkUrl = local ? 'http://127.0.0.1:1/telegram' : 'https://t.me'
  const uploadOrigin = 'https://files-1.s3.eu-central-1.amazonaws.com'
  const settings = {
    baseUrl: 'https://platform.test/stage',
    brand: DEFAULT_BRAND,
    consoleAutoProvision: local,
    telegramLinkUrl,
    uploadOrigin,
    socketsUrl: 'wss://api-1.execute-api.eu-central-1.amazonaws.com/stage',
  }
  const deps = { settings, clock: systemClock, log: createLogger('silent') } as unknown as Deps
  return createPipeline(pageEndpoints(openBuiltFiles([folder])), {}, async () => deps)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'console-'))
  await buildConsole(folder)
})
afterAll(() => rm(folder, { recursive: true }))

const get = async (path: string, headers: Record<string, string> = {}, local = false) => {
  const event = { httpMethod: 'GET', path, headers, body: null, requestContext: {} } as unknown as APIGatewayProxyEvent
  const { statusCode, headers: answered, body } = await serving(local)(event, {} as Context)
  return { status: statusCode, headers: answered as Record<string, string>, body }
}

const policyOf = (headers: Record<string, string>): Map<string, string> =>
  new Map(
    (headers['content-security-policy'] ?? '').split('; ').map((rule) => rule.split(/ (.*)/s) as [string, string]),
  )

describe('GET /app', () => {
  it('contains no inline script or style, and loads its own files only, by relative paths', async () => {
    const { status, headers, body } = await get('/app')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(body).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]* src=)/)
    const addresses = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address)
    expect(addresses.length).toBeGreaterThan(2)
    for (const address of addresses)
      expect(address).toMatch(/^(app\/assets\/[\w-]+\.(js|css)|\.\/brand\.(css|svg)\?v=[\da-f]{8})$/)
  })

  it('can’t be framed, and may run only its own scripts and the messenger’s sign-in', async () => {
    const policy = policyOf((await get('/app')).headers)
    expect(policy.get('default-src')).toBe("'none'")
    expect(policy.get('script-src')).toBe("'self' https://telegram.org/js/telegram-widget.js")
    expect(policy.get('style-src')).toBe("'self'")
    expect(policy.get('connect-src')).toBe(
      "'self' https://files-1.s3.eu-central-1.amazonaws.com wss://api-1.execute-api.eu-central-1.amazonaws.com",
    )
    expect(policy.get('frame-src')).toBe('https://oauth.telegram.org')
    expect(policy.get('frame-ancestors')).toBe("'none'")
    expect((await get('/app')).headers['x-frame-options']).toBe('DENY')
  })

  it('loads images from the platform only', async () => {
    for (const answer of [await get('/app'), await get('/app', {}, true), await get('/app/mini-app')]) {
      expect(policyOf(answer.headers).get('img-src')).toBe("'self' data:")
    }
  })

  it('requires trusted types, and makes none but the address of the sign-in’s script', async () => {
    for (const [answer, scripts, made] of [
      [await get('/app'), "'self' https://telegram.org/js/telegram-widget.js", 'telegram-widget'],
      [await get('/app', {}, true), "'self'", "'none'"],
      [await get('/app/mini-app'), "'self'", "'none'"],
    ] as const) {
      const policy = policyOf(answer.headers)
      expect(policy.get('script-src')).toBe(scripts)
      expect(policy.get('require-trusted-types-for')).toBe("'script'")
      expect(policy.get('trusted-types')).toBe(made)
    }
  })

  it('offers to sign in as anyone in local development only, and never in the messaging app', async () => {
    expect((await get('/app')).body).toContain('data-local-sign-in="false"')
    expect((await get('/app', {}, true)).body).toContain('data-local-sign-in="true"')
    expect((await get('/app/mini-app', {}, true)).body).toContain('data-local-sign-in="false"')
  })

  it('is revalidated at each visit, and not sent again', async () => {
    const { headers } = await get('/app')
    expect(headers['cache-control']).toBe('no-cache')
    expect(await get('/app', { 'if-none-match': headers.etag ?? '' })).toMatchObject({ status: 304, body: '' })
    // Another deployment's page, or the other entry, differs.
    expect((await get('/app/mini-app', { 'if-none-match': headers.etag ?? '' })).status).toBe(200)
  })
})

describe('the language of GET /app', () => {
  it('is the browser’s, and the page names its scripts in the others', async () => {
    const english = await get('/app')
    const german = await get('/app', { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' })
    expect(english.headers.vary).toBe('accept-language')
    expect(english.body).toContain('<html lang="en" dir="ltr">')
    expect(german.body).toContain('<html lang="de" dir="ltr">')
    expect(german.body).toContain('<title>Konsole · ')
    const scripts = [english, german].map(({ body }) => /<script type="module" src="([^"]+)"/.exec(body)?.[1])
    expect(new Set(scripts).size).toBe(2)
    for (const { body } of [english, german])
      expect(body).toContain(`data-languages="en=${scripts[0]} de=${scripts[1]}"`)
    expect(english.headers.etag).not.toBe(german.headers.etag)
  })

  it('is English if the browser asks for another or for the tests’ language', async () => {
    for (const language of ['fr', 'ar-XB', '*', '"><script>'])
      expect((await get('/app', { 'accept-language': language })).body).toContain('<html lang="en" dir="ltr">')
  })
})

describe('GET /app/mini-app', () => {
  it('can be framed by the messaging app’s web client only', async () => {
    const { headers, body } = await get('/app/mini-app')
    expect(policyOf(headers).get('frame-ancestors')).toBe('https://web.telegram.org')
    expect(headers['x-frame-options']).toBeUndefined()
    expect(body).toContain('src="assets/')
  })
})

describe('GET /app/assets/{file}', () => {
  it('caches every file of the page for a year', async () => {
    const { body } = await get('/app')
    for (const [, name] of body.matchAll(/app\/assets\/([\w.-]+)"/g)) {
      const { status, headers } = await get(`/app/assets/${name}`)
      expect(status).toBe(200)
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(headers['content-type']).toMatch(/^text\/(javascript|css); charset=utf-8$/)
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
  })

  it.each(['nothing.js', 'console-files.json', 'fingerprint', '..%2Findex.cjs'])(
    'serves nothing but files built for browsers: %s',
    async (name) => {
      const { status, body } = await get(`/app/assets/${name}`)
      expect(status).toBe(404)
      expect(JSON.parse(body).error.code).toBe('not_found')
    },
  )
})

describe('the console’s build', () => {
  it('loads less than 40 KB of compressed script before the first render', async () => {
    const bytes = await firstLoadBytes(folder)
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(40_000)
  })

  it('doesn’t write anything when nothing has changed', async () => {
    const written = async () => (await stat(join(folder, 'console-files.json'))).mtimeMs
    const before = await written()
    await buildConsole(folder)
    expect(await written()).toBe(before)
  })
})
