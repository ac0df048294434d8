import { describe, expect, it } from 'vitest'
import { disposition } from '#shared/adapters/objects/disposition.ts'
import { newId } from '#shared/kernel/ids.ts'
import { newSecret } from '#shared/kernel/secrets.ts'
import { callbackToken } from '#testkit/fixtures.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage, usingWorld } from '#testkit/using-stage.ts'
import { pathWithUnknownIds } from '#testkit/world.ts'
import { bearer, calling, endpoints, expectNoFailure, expectRefusal, nameOf } from './support.ts'

const platform = usingPlatform()
const stage = usingStage(platform)
const world = usingWorld(platform)

const call = calling(platform)

/** Texts that end a header, a line or a field where they are used unescaped. */
const BREAKING = [
  'a\r\nX-Injected: 1',
  'a\nX-Injected: 1',
  'a\rX-Injected: 1',
  'a\r\n\r\n<script>alert(1)</script>',
  'a\u0000b',
  'a\u0085X-Injected: 1',
  'a\u2028X-Injected: 1',
  '嘊嘍X-Injected: 1',
  '%0d%0aX-Injected:%201',
  '"; filename="b.exe',
  "a'; filename*=UTF-8''b.exe",
  '\\"; x="',
  '\u001b[2J\u001b[31mroot',
  '{"level":"info","message":"forged"}',
  'a","level":"info","message":"forged',
  '\u202egpj.exe',
]
/** Asserts that no header value of an answer contains a character that could start another header. */
const expectWhole = ({ headers }: Answer, what: string): void => {
  for (const [name, value] of Object.entries(headers)) {
    expect(name, what).toMatch(/^[\w-]+$/)
    expect(String(value), `${what} ${name}`).toMatch(/^[\t\x20-\x7e]*$/)
    expect(name.toLowerCase(), what).not.toBe('x-injected')
  }
}

describe(`headers: ${BREAKING.length} texts that break lines`, () => {
  it('file names and types are stored unchanged, encoded or refused', async () => {
    const { token } = await stage.integration()
    for (const text of BREAKING) {
      const content = { content: 'x', content_type: 'text/plain' }
      const named = await call('POST', '/api/v1/files', bearer(token), { ...content, name: text })
      expect([201, 422], `${JSON.stringify(text)} ${named.text}`).toContain(named.status)
      if (named.status === 201) expect(named.body.name).not.toMatch(/\p{Cc}/u)
      const typed = await call('POST', '/api/v1/files', bearer(token), {
        ...content,
        name: 'a',
        content_type: `text/${text}`,
      })
      expectRefusal(typed, text, 'validation_error')
      // Also for a name that was stored by other means.
      const header = disposition('attachment', text)
      expect(header).toMatch(/^attachment; filename="[^"\\\r\n]*"; filename\*=UTF-8''[\w.~!%()*'-]*$/)
    }
  })

  it('state and other parameters of authorization reach headers only encoded', async () => {
    const { app } = await stage.integration()
    for (const text of BREAKING) {
      for (const name of ['state', 'redirect_uri', 'client_id', 'scope', 'response_type', 'code_challenge', 'nonce']) {
        platform.clock.advance(1_000)
        const answer = await stage.actors.authorize(app, { [name]: text })
        expectNoFailure(answer, `${name} ${text}`)
        expectWhole(answer, name)
      }
      const back = await stage.actors.consented(app, { state: text }, { decision: 'deny' })
      expect(back.back.href, text).toMatch(/^https:\/\/client\.example\/callback\?[\x21-\x7e]+$/)
      expect(back.back.searchParams.get('state')).toBe(text)
      expect([...back.back.searchParams.keys()].sort()).toEqual(['error', 'iss', 'state'])
    }
  })

  it('event names and webhook masks are refused; descriptions remain data', async () => {
    const { token } = await stage.integration()
    for (const text of BREAKING) {
      const emitted = { arguments: { type: `order.${text}`, data: { text } } }
      const answer = await call('POST', '/api/v1/tools/emit_event/invoke', bearer(token), emitted)
      expectRefusal(answer, text, 'validation_error')
      const hook = { url: stage.hooks.url, events: [text] }
      expectRefusal(await call('POST', '/api/v1/webhooks', bearer(token), hook), text, 'validation_error')
    }
    const description = BREAKING.join('')
    const { body } = await call('POST', '/api/v1/webhooks', bearer(token), {
      url: stage.hooks.url,
      events: ['custom.*'],
      description,
    })
    stage.hooks.requests.length = 0
    const data = Object.fromEntries(BREAKING.map((text, i) => [`k${i}${text}`, text]))
    await call('POST', '/api/v1/tools/emit_event/invoke', bearer(token), { arguments: { type: 'order.paid', data } })
    await platform.drain()
    const [delivered] = stage.hooks.requests
    expect(delivered?.headers['x-svc-event']).toBe('custom.order.paid')
    expect(delivered?.headers).not.toHaveProperty('x-injected')
    expect(JSON.parse(delivered?.body.toString() ?? '').data).toEqual(data)
    expect(body.description).toBe(description)
  })

  it('ids, versions and vendors of manifests are refused; names remain data', async () => {
    const { owner, app, headers } = await stage.developer()
    const manifest = stage.manifestFor(owner, app)
    for (const text of BREAKING) {
      for (const field of ['id', 'version']) {
        const body = { ...manifest, [field]: `${manifest[field as 'id']}${text}` }
        const answer = await call('POST', `/api/v1/dev/apps/${app.id}/versions`, headers, body)
        expectRefusal(answer, `${field} ${text}`, 'invalid_manifest')
        expectWhole(answer, field)
      }
    }
  })

  it('headers that an agent sends with http_fetch are refused where they break lines', async () => {
    const { run, app } = await stage.running()
    const token = await callbackToken(platform.deps, app, run.id)
    for (const text of BREAKING.filter((one) => /[\r\n\0]/.test(one))) {
      for (const given of [{ 'x-a': text }, { [text]: 'a' }]) {
        const args = { arguments: { url: `${stage.hooks.url}/x`, headers: given } }
        const answer = await call('POST', '/api/v1/tools/http_fetch/invoke', bearer(token), args)
        expectNoFailure(answer, text)
        // A header that waits for a person's approval is refused when sent:
        // test/shared/adapters/outgoing-http/headers.test.ts.
        if (answer.status < 300) expect(answer.body.status).toBe('awaiting_approval')
      }
    }
    expect(stage.hooks.requests.some(({ headers }) => 'x-injected' in headers)).toBe(false)
  })

  it('request headers, parameter names and Idempotency-Keys are never repeated in an answer’s headers', async () => {
    for (const text of BREAKING) {
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      const twice = `${encodeURIComponent(text)}=1&${encodeURIComponent(text)}=2`
      for (const answer of [
        await call('POST', '/oauth/token', form, twice),
        await call('POST', '/oauth/token.json', {}, JSON.stringify({ client_id: text, client_secret: text })),
        await call('POST', '/api/v1/runs', { ...world.credentials.integration, 'idempotency-key': text }, {}),
        await call('GET', '/api/v1/me', { authorization: `Bearer ${text}`, 'x-request-id': text, origin: text }),
        await call('POST', '/api/v1/runs', { ...world.credentials.integration, 'content-type': text }, '{}'),
        await call('GET', `/api/v1/${encodeURIComponent(text)}`, {}),
        await call('GET', `/console/install/${encodeURIComponent(text)}`, world.credentials.console ?? {}),
        await call('GET', '/oauth/metadata', { 'if-none-match': text, 'accept-language': text }),
      ]) {
        expectNoFailure(answer, `${text} ${platform.logs.findLast((line) => line.includes('request failed'))}`)
        expectWhole(answer, text)
        expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-z]{26}$/)
      }
    }
  })
})

describe('headers that proxies use', () => {
  const SPOOFED: Record<string, string> = {
    host: 'evil.test',
    forwarded: 'for=127.0.0.1;host=evil.test;proto=http',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': 'evil.test',
    'x-forwarded-proto': 'http',
    'x-forwarded-port': '80',
    'x-forwarded-prefix': '/evil',
    'x-forwarded-server': 'evil.test',
    'x-host': 'evil.test',
    'x-original-host': 'evil.test',
    'x-original-url': '/admin/me',
    'x-rewrite-url': '/admin/me',
    'x-real-ip': '127.0.0.1',
    'x-client-ip': '127.0.0.1',
    'true-client-ip': '127.0.0.1',
    'cf-connecting-ip': '127.0.0.1',
    'x-http-method': 'DELETE',
    'x-http-method-override': 'DELETE',
    'x-method-override': 'DELETE',
    'x-amzn-oidc-identity': 'admin',
    'x-amz-cf-id': 'x',
    'x-user-id': 'admin',
    'x-workspace-id': 'ws_0',
    'x-role': 'superadmin',
    'x-middleware-subrequest': 'middleware:middleware:middleware',
  }

  it(`${Object.keys(SPOOFED).length} of them change no answer`, async () => {
    const PATHS = [
      '/oauth/metadata',
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-protected-resource',
      '/oauth/scopes',
      '/',
      '/api/v1/me',
      '/console/me',
    ]
    const plain = ({ status, text, headers }: Answer) => [status, text.replaceAll(/req_\w+/g, ''), headers.location]
    for (const path of PATHS) {
      const headers = path.startsWith('/api')
        ? world.credentials.integration
        : path.startsWith('/console')
          ? world.credentials.console
          : {}
      const usual = plain(await call('GET', path, headers ?? {}))
      for (const [name, value] of Object.entries(SPOOFED)) {
        expect(plain(await call('GET', path, { ...headers, [name]: value })), `${name} at ${path}`).toEqual(usual)
      }
    }
  })

  it('addresses from spoofed headers are never handed out or written to the audit', async () => {
    const { owner, app } = await stage.developer()
    const { body } = await owner.call('POST', `/api/v1/dev/apps/${app.id}/rotate-secret`, undefined, SPOOFED)
    expect(JSON.stringify(body)).not.toContain('evil.test')
    const client = await stage.integration()
    const query = new URLSearchParams({
      client_id: client.app.id,
      redirect_uri: 'https://client.example/callback',
      response_type: 'code',
      code_challenge: stage.pkce().challenge,
      code_challenge_method: 'S256',
    })
    const begun = await call('GET', `/oauth/authorize?${query}`, SPOOFED)
    expect(begun.headers.location).toMatch(/^https:\/\/platform\.test\//)
    const audit = await call('GET', '/admin/audit', world.credentials.admin ?? {})
    expect(audit.text).not.toContain('evil.test')
    expect(audit.text).not.toContain('127.0.0.1')
  })

  it('only the request line sets the method: no header, parameter or field overrides it', async () => {
    const { app, headers } = await stage.developer()
    const path = `/api/v1/dev/apps/${app.id}`
    const { name: before } = (await call('GET', path, headers)).body
    for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      expect((await call('GET', path, { ...headers, [name]: 'PATCH' })).body.name).toBe(before)
      expectRefusal(
        await call('POST', path, { ...headers, [name]: 'PATCH' }, { name: 'x' }),
        name,
        'method_not_allowed',
      )
    }
    expectRefusal(await call('GET', `${path}?_method=PATCH`, headers), '_method', 'validation_error')
    for (const method of ['TRACE', 'CONNECT', 'PROPFIND', 'get', 'GET ', 'POST\r\nX: y', '__proto__', 'head']) {
      expectRefusal(await call(method, '/api/v1/me', world.credentials.integration ?? {}), method, 'method_not_allowed')
    }
  })

  it('failed sign-ins are counted by the source address that the gateway reports, whatever the client claims', async () => {
    platform.settings.addressRateLimits = true
    try {
      const codes: number[] = []
      for (let n = 0; n < 40; n++) {
        const headers = { ...bearer('x'), 'x-forwarded-for': `198.18.0.${n}`, 'x-real-ip': `198.18.1.${n}` }
        const { status } = await platform.call('GET', '/api/v1/me', { headers, sourceIp: '198.51.100.77' })
        codes.push(status)
      }
      expect(codes.slice(0, 15)).toEqual(Array(15).fill(401))
      expect(codes.at(-1)).toBe(429)
      const neighbour = await platform.call('GET', '/api/v1/me', { headers: bearer('x'), sourceIp: '198.51.100.78' })
      expect(neighbour.status).toBe(401)
    } finally {
      platform.settings.addressRateLimits = false
    }
  })
})

describe('logs', () => {
  it('every entry stays one line of JSON and none can be forged, whatever was sent', async () => {
    platform.logs.length = 0
    for (const text of BREAKING) {
      await call('GET', `/api/v1/${encodeURIComponent(text)}`, {})
      await call(text, '/api/v1/me', {})
      await call('POST', `/api/v1/tools/${encodeURIComponent(text)}/invoke`, world.credentials.integration ?? {}, {})
      await call(
        'POST',
        '/api/v1/runs',
        { ...world.credentials.integration, 'idempotency-key': text },
        { trigger: text },
      )
      await call('GET', '/oauth/metadata', { 'user-agent': text, referer: text, 'x-amzn-trace-id': text })
      platform.deps.log.error(text, { [text]: text, error: new Error(text, { cause: new Error(text) }) })
    }
    expect(platform.logs.length).toBeGreaterThan(BREAKING.length * 4)
    for (const line of platform.logs) {
      expect(
        [...line].every((character) => character >= ' '),
        line.slice(0, 200),
      ).toBe(true)
      const entry = JSON.parse(line)
      expect(['info', 'warn', 'error', 'debug']).toContain(entry.level)
      expect(entry.message).not.toBe('forged')
    }
  })

  it('no entry contains a secret, wherever the secret was sent', async () => {
    const now = platform.clock.now()
    const secrets = {
      'developer key': newSecret('dvk_'),
      'admin key': newSecret('adk_'),
      'client secret': newSecret('cs_'),
      'refresh token': newSecret('rft_'),
      code: newSecret('code_'),
      'start link': newSecret('join_'),
      'webhook secret': `whsec_${Buffer.from(newSecret()).toString('base64').slice(0, 43)}=`,
      'signing secret': `agsec_${Buffer.from(newSecret()).toString('base64').slice(0, 43)}=`,
      nonce: newSecret(),
      'access token': world.integration.token,
      'console token': world.integration.person.token,
      'bot token': `123456789:AA${newSecret().slice(0, 33)}`,
    }
    platform.logs.length = 0
    for (const secret of Object.values(secrets)) {
      const at = encodeURIComponent(secret)
      const places: [method: string, path: string, headers: Record<string, string>, body?: unknown][] = [
        ['GET', `/api/v1/${at}`, {}],
        ['GET', `/api/v1/runs/${at}`, bearer(secret)],
        ['GET', `/${at}/x`, {}],
        ['GET', `/api/v1/me?access_token=${at}`, world.credentials.integration ?? {}],
        ['GET', '/api/v1/me', { authorization: `Bearer ${secret}` }],
        ['GET', '/api/v1/me', { authorization: secret, cookie: secret, 'user-agent': secret, referer: secret }],
        ['GET', '/api/v1/dev/me', { 'x-developer-key': secret }],
        ['GET', '/admin/me', { 'x-admin-key': secret }],
        [
          'POST',
          '/api/v1/runs',
          { ...world.credentials.integration, 'idempotency-key': secret.slice(0, 255) },
          { trigger: secret },
        ],
        ['POST', '/api/v1/runs', { ...world.credentials.integration, 'content-type': secret }, '{}'],
        ['POST', '/api/v1/runs', world.credentials.integration ?? {}, `{"${secret}":`],
        ['POST', '/oauth/token.json', {}, { client_id: newId('app', now), client_secret: secret, code: secret }],
        [
          'POST',
          '/oauth/token',
          { 'content-type': 'application/x-www-form-urlencoded' },
          `client_secret=${at}&token=${at}`,
        ],
        ['POST', '/admin/auth/login', {}, { email: 'mo@example.com', password: secret }],
        ['POST', '/console/bot/webapp-auth', {}, { init_data: `hash=${secret}` }],
        ['POST', '/console/bot/webhook', { 'x-telegram-bot-api-secret-token': secret }, { update_id: 1 }],
        ['POST', '/console/messenger/accounts/bot', world.credentials.console ?? {}, { token: secret }],
        ['GET', `/oauth/consent/request?tg=${at}`, world.credentials.console ?? {}],
        ['GET', `/oauth/consent/status?tg=${at}`, {}],
      ]
      for (const [method, path, headers, body] of places) expectNoFailure(await call(method, path, headers, body), path)
    }
    const written = platform.logs.join('\n')
    for (const [name, secret] of Object.entries(secrets)) {
      // Neither whole nor without its prefix.
      for (const form of [secret, secret.replace(/^[a-z]+_/, ''), secret.split('.').at(-1) ?? '']) {
        expect(written.includes(form), `${name} in a log`).toBe(false)
      }
    }
  })

  it('an internal failure tells the client no details, and its log entry contains no secret', async () => {
    const { table } = platform.deps
    const { getAll } = table
    platform.logs.length = 0
    const secret = newSecret('cs_')
    table.getAll = (async () => {
      throw new Error(`connect failed for ${secret}\nat /var/task/index.js`)
    }) as typeof getAll
    try {
      const guarded = endpoints.filter(({ caller }) => caller === 'integration' || caller === 'console').slice(0, 10)
      for (const endpoint of guarded) {
        const headers = world.credentials[endpoint.caller] ?? {}
        const answer = await call(
          endpoint.method,
          pathWithUnknownIds(endpoint),
          headers,
          endpoint.method === 'GET' ? undefined : {},
        )
        expect([answer.status, answer.body.error.code], nameOf(endpoint)).toEqual([500, 'internal_error'])
        expect(answer.text).not.toMatch(/connect failed|var\/task|cs_[\w-]{9}/)
      }
    } finally {
      table.getAll = getAll
    }
    expect(platform.logs.join('\n')).toContain('connect failed')
    expect(platform.logs.join('\n')).not.toContain(secret)
  })
})
