import { beforeEach, describe, expect, it } from 'vitest'
import { ConsentEntity } from '#shared/access/consents/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { installed } from '#testkit/fixtures.ts'
import { actors, pkce, REDIRECT } from '#testkit/oauth.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const act = actors(platform)
beforeEach(() => platform.clock.advance(60_000))

describe('GET /oauth/authorize', () => {
  it('redirects to the consent page with a nonce that fits a start parameter, and stores only its hash', async () => {
    const { app } = await installed(platform.deps, { scopes: ['runs:read', 'files:write'] })
    const { challenge } = pkce()
    const answer = await act.authorize(app, { code_challenge: challenge, unknown_parameter: 'ignored' })
    expect(answer.status).toBe(302)
    expect(answer.headers['cache-control']).toBe('no-store')
    const page = new URL(answer.headers.location ?? '')
    expect(page.origin + page.pathname).toBe('https://platform.test/oauth/consent')
    const tg = page.searchParams.get('tg') ?? ''
    expect(`oauth_${tg}`).toMatch(/^[A-Za-z0-9_-]{49}$/)
    expect(await platform.deps.table.get(ConsentEntity, { nonce_hash: sha256(tg) })).toMatchObject({
      app_id: app.id,
      redirect_uri: REDIRECT,
      scopes: ['runs:read', 'files:write'],
      code_challenge: challenge,
      state: 'st/ate?&=é',
      expires_at: platform.clock.now() + 600_000,
    })
  })

  it('keeps the requested scopes, and allows a read scope within a declared write scope', async () => {
    const { app } = await installed(platform.deps, { scopes: ['runs:write', 'files:write'] })
    const tg = await act.link(app, { scope: ' runs:read  files:write ' })
    const consent = await platform.deps.table.get(ConsentEntity, { nonce_hash: sha256(tg) })
    expect(consent?.scopes).toEqual(['runs:read', 'files:write'])
  })

  const wrong: [what: string, changes: Record<string, string | undefined>, status: number, code: string][] = [
    ['no client_id', { client_id: undefined }, 400, 'invalid_request'],
    ['an empty client_id', { client_id: '' }, 400, 'invalid_request'],
    ['an unknown client_id', { client_id: 'app_01kae5m1v8w6c3x9q2r7t4y0zn' }, 401, 'invalid_client'],
    ['a malformed client_id', { client_id: '../../x' }, 401, 'invalid_client'],
    ['no redirect_uri', { redirect_uri: undefined }, 400, 'invalid_request'],
    ['a redirect_uri with an additional slash', { redirect_uri: `${REDIRECT}/` }, 400, 'invalid_redirect_uri'],
    ['a redirect_uri with an additional query', { redirect_uri: `${REDIRECT}?a=1` }, 400, 'invalid_redirect_uri'],
    ['a redirect_uri in upper case', { redirect_uri: REDIRECT.toUpperCase() }, 400, 'invalid_redirect_uri'],
    ['no response_type', { response_type: undefined }, 400, 'invalid_request'],
    ['response_type token', { response_type: 'token' }, 400, 'unsupported_response_type'],
    ['no code_challenge', { code_challenge: undefined }, 400, 'invalid_request'],
    ['a code_challenge with padding', { code_challenge: `${pkce().challenge}=` }, 400, 'invalid_request'],
    ['a short code_challenge', { code_challenge: 'abc' }, 400, 'invalid_request'],
    ['no code_challenge_method', { code_challenge_method: undefined }, 400, 'invalid_request'],
    ['code_challenge_method plain', { code_challenge_method: 'plain' }, 400, 'invalid_request'],
    ['an unknown scope', { scope: 'runs:read runs:fly' }, 400, 'invalid_scope'],
    ['an undeclared scope', { scope: 'chat:write' }, 403, 'insufficient_scope'],
    ['a state of 5000 characters', { state: 'x'.repeat(5_000) }, 400, 'invalid_request'],
  ]
  it.each(wrong)('refuses %s as JSON, without a redirect', async (_what, changes, status, code) => {
    const { app } = await installed(platform.deps, { scopes: ['runs:read'] })
    const answer = await act.authorize(app, changes)
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
    expect(answer.headers.location).toBeUndefined()
    if (code === 'insufficient_scope') {
      expect(answer.body.error.details).toEqual({ required_scope: 'chat:write', granted_scopes: ['runs:read'] })
    }
  })

  it('refuses any repeated parameter except resource', async () => {
    const { app } = await installed(platform.deps)
    const full = {
      client_id: app.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: pkce().challenge,
      code_challenge_method: 'S256',
      scope: 'runs:read',
      state: 'x',
      unknown: 'y',
    }
    const begin = (more: string) => platform.call('GET', `/oauth/authorize?${new URLSearchParams(full)}${more}`)
    for (const [name, value] of Object.entries(full)) {
      for (const again of [value, '', 'other']) {
        const answer = await begin(`&${name}=${encodeURIComponent(again)}`)
        expect([answer.status, answer.body.error.code], name).toEqual([400, 'invalid_request'])
        expect(answer.headers.location).toBeUndefined()
      }
    }
    // RFC 8707 §2.
    expect((await begin('&resource=https%3A%2F%2Fplatform.test&resource=urn%3Ax')).status).toBe(302)
  })

  it('ignores unknown parameters: prompt, nonce, login_hint, request', async () => {
    const { app } = await installed(platform.deps)
    const more = {
      prompt: 'none',
      nonce: 'n',
      login_hint: 'x',
      request: 'a.b.c',
      response_mode: 'query',
      display: 'popup',
    }
    expect((await act.authorize(app, more)).status).toBe(302)
    expect((await act.authorize(app, { response_mode: '' })).status).toBe(302)
  })

  it.each(['form_post', 'fragment', 'web_message', 'Query'])(
    'refuses the unsupported response_mode %s',
    async (response_mode) => {
      const { app } = await installed(platform.deps)
      const answer = await act.authorize(app, { response_mode })
      expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request'])
      expect(answer.headers.location).toBeUndefined()
    },
  )

  it('treats spaces alone as no scope, and any other whitespace as part of a scope', async () => {
    const { app } = await installed(platform.deps, { scopes: ['runs:read', 'files:read'] })
    for (const scope of [undefined, '', ' ', '   ']) {
      const tg = await act.link(app, { scope })
      const consent = await platform.deps.table.get(ConsentEntity, { nonce_hash: sha256(tg) })
      expect(consent?.scopes, JSON.stringify(scope)).toEqual(['runs:read', 'files:read'])
    }
    const once = await act.link(app, { scope: 'files:read files:read' })
    expect((await platform.deps.table.get(ConsentEntity, { nonce_hash: sha256(once) }))?.scopes).toEqual(['files:read'])
    for (const scope of [
      'runs:read\tfiles:read',
      'runs:read\n',
      'runs:read,files:read',
      'RUNS:READ',
      'runs:read\u00a0',
    ]) {
      const { status, body } = await act.authorize(app, { scope })
      expect([status, body.error.code], JSON.stringify(scope)).toEqual([400, 'invalid_scope'])
    }
  })

  describe('shows an error to a browser as a page', () => {
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    const open = (query: string) => platform.call('GET', `/oauth/authorize?${query}`, { headers: browser })

    it('that says what the person can do, with the code and the request id', async () => {
      const { status, headers, text } = await open('client_id=app_unknown')
      expect([status, headers['content-type']]).toEqual([401, 'text/html; charset=utf-8'])
      expect(text).toContain('<h1>This link doesn’t work</h1>')
      expect(text).toContain('invalid_client')
      expect(text).toContain(headers['x-request-id'])
      expect(headers['content-security-policy']).not.toContain('unsafe')
    })

    it('in the browser’s language', async () => {
      const headers = { ...browser, 'accept-language': 'de-AT,de;q=0.9' }
      const answer = await platform.call('GET', '/oauth/authorize?client_id=app_unknown', { headers })
      expect(answer.text).toContain('<html lang="de">')
      expect(answer.text).toContain('<h1>Dieser Link funktioniert nicht</h1>')
      expect(answer.headers.vary).toBe('Accept, Accept-Language')
    })

    it('that repeats nothing of the request', async () => {
      const { app } = await installed(platform.deps)
      const evil = encodeURIComponent('<script>alert(1)</script> Call +1 555 0100 now')
      for (const name of ['client_id', 'redirect_uri', 'scope', 'state', 'response_type', 'code_challenge_method']) {
        const { text } = await open(`client_id=${app.id}&${name}=${evil}`)
        expect(text).toContain('<!doctype html>')
        expect(text, name).not.toMatch(/script>|555 0100/)
      }
    })

    it('while other clients get JSON', async () => {
      for (const accept of ['*/*', 'application/json', 'application/json, text/html']) {
        const { body } = await platform.call('GET', '/oauth/authorize?client_id=x', { headers: { accept } })
        expect(body.error.code).toBe('invalid_client')
      }
    })
  })

  it('accepts GET only', async () => {
    const answer = await platform.call('POST', '/oauth/authorize', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'client_id=x',
    })
    expect([answer.status, answer.body.error.code, answer.headers.allow]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD',
    ])
  })

  it('refuses a suspended app', async () => {
    const { app } = await installed(platform.deps)
    await platform.deps.table.transact([AppEntity.update({ id: app.id }, { set: { status: 'suspended' } })])
    const answer = await act.authorize(app)
    expect([answer.status, answer.body.error.code]).toEqual([403, 'app_suspended'])
  })
})

describe('discovery', () => {
  it('lists what exists, under the base URL of the settings', async () => {
    const answer = await platform.call('GET', '/oauth/metadata?any=thing', { headers: { host: 'evil.example' } })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      issuer: 'https://platform.test',
      authorization_endpoint: 'https://platform.test/oauth/authorize',
      token_endpoint: 'https://platform.test/oauth/token',
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_post'],
      authorization_response_iss_parameter_supported: true,
    })
    for (const [name, address] of Object.entries<string>(answer.body)) {
      if (!name.endsWith('_endpoint')) continue
      const path = new URL(address).pathname
      const found = await platform.call(name === 'token_endpoint' ? 'POST' : 'GET', path)
      expect(found.status, name).not.toBe(404)
    }
  })

  it('is served where standard clients look for it, and to browsers', async () => {
    const known = await platform.call('GET', '/.well-known/oauth-authorization-server')
    expect(known.body).toEqual((await platform.call('GET', '/oauth/metadata')).body)
    const resource = await platform.call('GET', '/.well-known/oauth-protected-resource')
    expect(resource.body).toMatchObject({
      resource: 'https://platform.test',
      authorization_servers: ['https://platform.test/connect', 'https://platform.test'],
      bearer_methods_supported: ['header'],
    })
    for (const { headers } of [known, resource]) expect(headers['access-control-allow-origin']).toBe('*')
  })

  it('lists every scope with its description and risk', async () => {
    const { items } = (await platform.call('GET', '/oauth/scopes')).body
    expect(items).toHaveLength(14)
    expect(
      items.filter((one: { dangerous: boolean }) => one.dangerous).map((one: { scope: string }) => one.scope),
    ).toEqual(['tools:invoke', 'files:write', 'chat:write'])
    for (const { description } of items) expect(description.length).toBeGreaterThan(5)
  })
})
