import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { installed } from '#testkit/fixtures.ts'
import { actors, pkce, REDIRECT } from '#testkit/oauth.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const ISSUER = 'https://platform.test/connect'
const FORM = 'application/x-www-form-urlencoded'

const platform = usingPlatform()
const act = actors(platform)
let client: Awaited<ReturnType<typeof installed>>
beforeEach(async () => {
  platform.clock.advance(60_000)
  client = await installed(platform.deps)
})

type Parameters = Record<string, string | undefined>

const encoded = (parameters: Parameters): string =>
  new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString()

const post = (path: string, parameters: Parameters, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call('POST', path, { headers: { 'content-type': FORM, ...headers }, body: encoded(parameters) })

const basic = (id = client.app.id, secret = client.clientSecret) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
})

const request = (changes: Parameters = {}): Parameters => ({
  client_id: client.app.id,
  redirect_uri: REDIRECT,
  response_type: 'code',
  code_challenge: pkce().challenge,
  code_challenge_method: 'S256',
  state: 'st/ate',
  ...changes,
})

const authorize = (changes: Parameters = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call('GET', `/connect/authorize?${encoded(request(changes))}`, { headers })

/** Goes from the authorize request to the address that the browser returns to. */
const consented = async (changes: Parameters = {}) => {
  const { verifier, challenge } = pkce()
  const { headers } = await authorize({ code_challenge: challenge, ...changes })
  const tg = new URL(headers.location ?? '').searchParams.get('tg') ?? ''
  const person = await act.signIn()
  const { body } = await act.decide(person.token, tg)
  const back = new URL(body.redirect_to)
  return { back, code: back.searchParams.get('code') ?? '', verifier, person }
}

const redeem = (
  { code, verifier }: { code: string; verifier: string },
  more: Parameters = {},
  path = '/connect/token',
) =>
  post(
    path,
    { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT, ...more },
    basic(),
  )

/** Expects an error of RFC 6749 §5.2 and nothing else. */
const refused = ({ status, body, headers }: Answer, error: string, expected = 400): void => {
  expect([status, body.error]).toEqual([expected, error])
  expect(Object.keys(body)).toEqual(['error', 'error_description'])
  expect(body.error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/)
  expect([headers['cache-control'], headers.pragma]).toEqual(['no-store', 'no-cache'])
}

describe('a client with keys', () => {
  const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
  let pair: Awaited<ReturnType<typeof generateKeyPair>>
  const setKeys = async (jwks: object | null) =>
    platform.deps.table.transact([
      AppEntity.update({ id: client.app.id }, { set: { jwks: (jwks ?? undefined) as never } }),
    ])
  beforeEach(async () => {
    pair = await generateKeyPair('ES256')
    await setKeys({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'ES256' }] })
  })
  let count = 0
  const signed = async (changes: JWTPayload = {}, key = pair.privateKey, header: object = { kid: 'one' }) => {
    const now = Math.floor(platform.clock.now() / 1_000)
    const claims = {
      iss: client.app.id,
      sub: client.app.id,
      aud: ISSUER,
      iat: now,
      exp: now + 60,
      jti: `j${++count}`,
      ...changes,
    }
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', ...header }).sign(key)
  }
  const introspect = async (client_assertion: string, more: Parameters = {}, headers = {}) =>
    post('/connect/introspect', { token: 'x', client_assertion, client_assertion_type: TYPE, ...more }, headers)

  it('authenticates by an assertion at every endpoint, with and without client_id, and needs no secret (RFC 7523 §2.2, 7521 §4.2)', async () => {
    const began = await consented()
    const form = { code: began.code, code_verifier: began.verifier, redirect_uri: REDIRECT }
    const by = async () => ({ client_assertion: await signed(), client_assertion_type: TYPE })
    const { status, body } = await post('/connect/token', {
      ...{ grant_type: 'authorization_code', client_id: client.app.id, ...form },
      ...(await by()),
    })
    expect([status, body.token_type]).toEqual([200, 'Bearer'])
    const shown = await post('/connect/introspect', { token: body.access_token, ...(await by()) })
    expect([shown.status, shown.body.active]).toEqual([200, true])
    expect((await post('/connect/par', { ...request(), ...(await by()) })).status).toBe(201)
    expect((await post('/connect/revoke', { token: body.access_token, ...(await by()) })).status).toBe(200)
    const after = await post('/connect/introspect', { token: body.access_token, ...(await by()) })
    expect(after.body.active).toBe(false)
  })

  it('is refused with an assertion that was used, is too long, or is somebody else’s, and with none of its keys (RFC 7523 §3)', async () => {
    const once = await signed()
    expect((await introspect(once)).status).toBe(200)
    refused(await introspect(once), 'invalid_client', 401)
    const now = Math.floor(platform.clock.now() / 1_000)
    const other = await installed(platform.deps)
    const stranger = await generateKeyPair('ES256')
    const bad: [string, Promise<string>][] = [
      ['another audience', signed({ aud: 'https://elsewhere.example' })],
      ['the first issuer', signed({ aud: 'https://platform.test' })],
      ['no audience', signed({ aud: undefined })],
      ['no audience in a list', signed({ aud: [] })],
      ['its own address', signed({ aud: `${ISSUER}/introspect` })],
      ['the address of another endpoint', signed({ aud: `${ISSUER}/token` })],
      ['the issuer and another server', signed({ aud: [ISSUER, 'https://elsewhere.example'] })],
      ['the issuer twice', signed({ aud: [ISSUER, ISSUER] })],
      ['the type of an access token', signed({}, pair.privateKey, { typ: 'at+jwt' })],
      ['another issuer of it', signed({ iss: other.app.id })],
      ['another client', signed({ iss: other.app.id, sub: other.app.id })],
      ['expired', signed({ exp: now - 60 })],
      ['two hours', signed({ exp: now + 7_200 })],
      ['no id', signed({ jti: undefined })],
      ['another key', signed({}, stranger.privateKey)],
      ['none', Promise.resolve(`${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ sub: client.app.id }))}.`)],
      ['junk', Promise.resolve('junk')],
    ]
    for (const [what, assertion] of bad) {
      const answer = await introspect(await assertion)
      expect([what, answer.status, answer.body.error]).toEqual([what, 401, 'invalid_client'])
    }
    refused(await introspect(await signed(), { client_assertion_type: 'other' }), 'invalid_client', 401)
    refused(await introspect(await signed(), { client_secret: client.clientSecret }), 'invalid_request')
    await setKeys(null)
    refused(await introspect(await signed()), 'invalid_client', 401)
    expect((await post('/connect/introspect', { token: 'x' }, basic())).status).toBe(200)
  })

  it('addresses the issuer alone, as a string or in a list, by an assertion with the type of RFC 10070 or none', async () => {
    for (const header of [{}, { typ: 'JWT' }, { typ: 'client-authentication+jwt' }]) {
      expect((await introspect(await signed({}, pair.privateKey, header))).status).toBe(200)
    }
    expect((await introspect(await signed({ aud: [ISSUER] }))).status).toBe(200)
    const other = await introspect(await signed({ aud: `${ISSUER}/token` }))
    expect(other.body.error_description).toContain(`Set aud to ${ISSUER},`)
  })

  it('may address the token endpoint there, where the operator allows it for a transition (RFC 7523 §3 before RFC 10070)', async () => {
    const refresh = async (path: string, aud: string | string[]) => {
      const more = { client_assertion: await signed({ aud }), client_assertion_type: TYPE, token: 'x' }
      return (await post(path, { grant_type: 'refresh_token', refresh_token: 'x', ...more })).body.error
    }
    platform.deps.settings.appEndpointAudience = true
    const seen = {
      there: await refresh('/connect/token', `${ISSUER}/token`),
      issuer: await refresh('/connect/token', ISSUER),
      both: await refresh('/connect/token', [ISSUER, `${ISSUER}/token`]),
      elsewhere: await refresh('/connect/introspect', `${ISSUER}/token`),
    }
    platform.deps.settings.appEndpointAudience = false
    expect(seen).toEqual({
      there: 'invalid_grant',
      issuer: 'invalid_grant',
      both: 'invalid_client',
      elsewhere: 'invalid_client',
    })
    expect(await refresh('/connect/token', `${ISSUER}/token`)).toBe('invalid_client')
  })

  it('is known by any of its first five keys that fit an assertion which names none (RFC 7515 D)', async () => {
    const pairs = await Promise.all(Array.from({ length: 6 }, () => generateKeyPair('ES256')))
    await setKeys({ keys: await Promise.all(pairs.map(({ publicKey }) => exportJWK(publicKey))) })
    const statuses = []
    for (const { privateKey } of pairs) statuses.push((await introspect(await signed({}, privateKey, {}))).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 401])
  })

  it('can’t use an assertion at /oauth', async () => {
    const parameters = { client_assertion: await signed(), client_assertion_type: TYPE, client_id: client.app.id }
    const answer = await post('/oauth/introspect', { token: 'x', ...parameters })
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_client'])
  })
})

describe('the metadata of the second issuer', () => {
  it.each([
    '/.well-known/oauth-authorization-server/connect',
    '/connect/.well-known/oauth-authorization-server',
    '/connect/.well-known/openid-configuration',
  ])('is at %s, for any origin (RFC 8414 §3)', async (path) => {
    const { status, body, headers } = await platform.call('GET', path)
    expect([status, headers['access-control-allow-origin']]).toEqual([200, '*'])
    expect(body).toMatchObject({
      issuer: ISSUER,
      token_endpoint: `${ISSUER}/token`,
      pushed_authorization_request_endpoint: `${ISSUER}/par`,
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none', 'private_key_jwt'],
      authorization_response_iss_parameter_supported: true,
    })
  })
})

it('the metadata for OpenID clients has what their discovery requires, and offers no ID tokens', async () => {
  const { body } = await platform.call('GET', '/connect/.well-known/openid-configuration')
  expect(body).toMatchObject({
    jwks_uri: expect.stringMatching(/\/\.well-known\/jwks\.json$/),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  })
  expect(body.scopes_supported).not.toContain('openid')
})

describe('GET /connect/authorize', () => {
  it.each<[string, Parameters]>([
    ['unsupported_response_type', { response_type: 'token' }],
    ['invalid_request', { code_challenge: undefined }],
    ['invalid_request', { code_challenge_method: 'plain' }],
    ['invalid_request', { response_mode: 'fragment' }],
    ['invalid_scope', { scope: 'everything' }],
    ['invalid_target', { resource: 'https://platform.test/mcp' }],
  ])('sends %s back to the client with state and iss (RFC 6749 §4.1.2.1, 9207 §2): %j', async (error, changes) => {
    const { status, headers } = await authorize(changes)
    expect(status).toBe(302)
    const back = new URL(headers.location ?? '')
    expect(back.origin + back.pathname).toBe(REDIRECT)
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error, state: 'st/ate', iss: ISSUER })
  })

  it('sends an error about a repeated parameter back, without a state that was repeated (RFC 6749 §3.1, §4.1.2.1)', async () => {
    const twice = async (more: string) => {
      const { status, headers } = await platform.call('GET', `/connect/authorize?${encoded(request())}&${more}`)
      return status === 302 ? Object.fromEntries(new URL(headers.location ?? '').searchParams) : status
    }
    const error_description = expect.any(String)
    const back = { error: 'invalid_request', error_description, iss: ISSUER }
    expect(await twice('scope=runs:read&scope=runs:read')).toEqual({ ...back, state: 'st/ate' })
    expect(await twice('code_challenge_method=S256')).toEqual({ ...back, state: 'st/ate' })
    expect(await twice('state=other')).toEqual(back)
    expect(await twice(`client_id=${client.app.id}`)).toBe(400)
    expect(await twice(`redirect_uri=${encodeURIComponent(REDIRECT)}`)).toBe(400)
    expect(await twice('request_uri=a&request_uri=b')).toBe(400)
  })

  it('takes a repeated resource if it can serve all of them (RFC 8707 §2)', async () => {
    const asked = async (...addresses: string[]) => {
      const resources = addresses.map((address) => `&resource=${encodeURIComponent(address)}`).join('')
      const { headers } = await platform.call('GET', `/connect/authorize?${encoded(request())}${resources}`)
      return new URL(headers.location ?? '').searchParams.get('error')
    }
    const api = 'https://platform.test/api/v1'
    expect(await asked(api, api)).toBeNull()
    expect(await asked(api, 'https://platform.test/mcp')).toBe('invalid_target')
    expect(await asked('https://elsewhere.example', api)).toBe('invalid_target')
  })

  it('never redirects to an address that isn’t the client’s, and shows a person a page without the request (RFC 6749 §3.1.2.4)', async () => {
    const evil = 'https://evil.example/"><script>'
    for (const changes of [{ redirect_uri: evil }, { client_id: 'app_unknown' }, { redirect_uri: undefined }]) {
      const page = await authorize(changes, { accept: 'text/html' })
      expect(page.status).toBeGreaterThanOrEqual(400)
      expect([page.headers.location, page.text.includes('evil')]).toEqual([undefined, false])
      const { body } = await authorize(changes)
      expect(typeof body.error).toBe('string')
    }
  })

  it('never sends anything to a suspended app', async () => {
    await platform.deps.table.transact([AppEntity.update({ id: client.app.id }, { set: { status: 'suspended' } })])
    const answer = await authorize({ scope: 'everything' })
    expect([answer.headers.location, answer.body.error]).toEqual([undefined, 'unauthorized_client'])
  })
})

describe('a code', () => {
  it('comes with the issuer’s iss, and only that issuer redeems it (RFC 9207 §2)', async () => {
    const connected = await consented()
    expect(Object.fromEntries(connected.back.searchParams)).toMatchObject({ state: 'st/ate', iss: ISSUER })
    const body = { client_id: client.app.id, client_secret: client.clientSecret }
    const elsewhere = await act.redeem(client, connected)
    expect([elsewhere.status, elsewhere.body.error.code, body.client_id]).toEqual([400, 'invalid_grant', client.app.id])
    const first = await act.consented(client.app)
    refused(await redeem(first), 'invalid_grant')
    const { status, body: tokens } = await redeem(connected)
    expect([status, tokens.token_type, tokens.expires_in]).toEqual([200, 'Bearer', 7_200])
    expect(await act.works(tokens.access_token)).toBe(200)
  })

  it('is exchanged for the API’s resource alone (RFC 8707 §2.2)', async () => {
    const connected = await consented({ resource: 'https://platform.test/api/v1' })
    refused(await redeem(connected, { resource: 'https://platform.test/mcp' }), 'invalid_target')
    expect((await redeem(connected, { resource: 'https://platform.test/api/v1' })).status).toBe(200)
  })
})

describe('a client of /connect', () => {
  it('authenticates by HTTP Basic or in the body, in one way only (RFC 6749 §2.3.1, §2.3)', async () => {
    const { app, clientSecret } = client
    const inBody = { client_id: app.id, client_secret: clientSecret }
    const introspect = (more: Parameters, headers = {}) => post('/connect/introspect', { token: 'x', ...more }, headers)
    for (const answer of [
      await introspect(inBody),
      await introspect({}, basic()),
      await introspect({ client_id: app.id }, basic()),
    ]) {
      expect([answer.status, answer.body]).toEqual([200, { active: false }])
    }
    refused(await introspect(inBody, basic()), 'invalid_request')
    refused(await introspect({ client_id: 'app_other' }, basic()), 'invalid_request')
    for (const headers of [
      basic(app.id, 'cs_wrong'),
      basic('app_other'),
      { authorization: 'Basic !' },
      { authorization: 'Basic YQ==' },
      {},
    ]) {
      const answer = await introspect({}, headers)
      refused(answer, 'invalid_client', 401)
      expect(answer.headers['www-authenticate']).toBe(`Basic realm="${ISSUER}"`)
    }
    const percent = { authorization: `Basic ${Buffer.from(`${app.id}:%zz`).toString('base64')}` }
    refused(await introspect({}, percent), 'invalid_client', 401)
  })

  it('gets RFC 6749’s errors for a wrong grant type, a missing parameter and a wrong content type (RFC 6749 §5.2)', async () => {
    refused(await post('/connect/token', { grant_type: 'password' }, basic()), 'unsupported_grant_type')
    refused(await post('/connect/token', { grant_type: 'refresh_token' }, basic()), 'invalid_request')
    refused(await post('/connect/revoke', {}, basic()), 'invalid_request')
    refused(await post('/connect/token', {}, { ...basic(), 'content-type': 'application/json' }), 'invalid_request')
    refused(await post('/connect/token?grant_type=refresh_token', {}, { ...basic() }), 'invalid_request')
  })

  it('is refused with HTTP Basic at /oauth, whose errors don’t change', async () => {
    const { status, body } = await post('/oauth/introspect', { token: 'x' }, basic())
    expect([status, body.error.code]).toEqual([401, 'invalid_client'])
  })

  it('may be a page of any origin at the token and revocation endpoints', async () => {
    for (const path of ['/connect/token', '/connect/revoke']) {
      const preflight = await platform.call('OPTIONS', path)
      expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*'])
    }
    expect((await platform.call('OPTIONS', '/connect/introspect')).status).toBe(405)
  })
})

describe('a token', () => {
  const refresh = (token: string, more: Parameters = {}, path = '/connect/token') =>
    post(path, { grant_type: 'refresh_token', refresh_token: token, ...more }, basic())
  const inBody = () => ({ client_id: client.app.id, client_secret: client.clientSecret })
  const seen = async (token: string) => ({
    connect: (await post('/connect/introspect', { token }, basic())).body,
    oauth: (await post('/oauth/introspect', { token, ...inBody() })).body,
  })

  it('is active at the server that issued it alone, which names itself (RFC 7662 §2.2)', async () => {
    const { body: tokens } = await redeem(await consented())
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      const { connect, oauth } = await seen(token)
      expect([connect.active, connect.iss, oauth]).toEqual([true, ISSUER, { active: false }])
    }
    const refresh_token = tokens.refresh_token
    const elsewhere = await post('/oauth/token', { grant_type: 'refresh_token', refresh_token, ...inBody() })
    for (const token of [elsewhere.body.access_token, elsewhere.body.refresh_token]) {
      const { connect, oauth } = await seen(token)
      expect([connect, oauth.active, oauth.iss]).toEqual([{ active: false }, true, 'https://platform.test'])
    }
  })

  it('has fewer scopes if the refresh asks for fewer, while the refresh token keeps all (RFC 6749 §6)', async () => {
    const { body: first } = await redeem(await consented({ scope: 'workspace:read runs:write' }))
    const { body: narrow } = await refresh(first.refresh_token, { scope: 'runs:read' })
    expect([narrow.scope, (await seen(narrow.access_token)).connect.scope]).toEqual(['runs:read', 'runs:read'])
    const reach = async (token: string) =>
      Promise.all(
        ['/api/v1/runs', '/api/v1/me'].map(async (path) => (await platform.call('GET', path, { token })).status),
      )
    expect(await reach(narrow.access_token)).toEqual([200, 200])
    expect((await platform.call('POST', '/api/v1/runs', { token: narrow.access_token, body: {} })).status).toBe(403)
    refused(await refresh(narrow.refresh_token, { scope: 'runs:read tasks:read' }), 'invalid_scope')
    const { body: whole } = await refresh(narrow.refresh_token)
    expect(whole.scope).toBe(first.scope)
    expect((await platform.call('POST', '/api/v1/runs', { token: whole.access_token, body: {} })).status).not.toBe(403)
  })
})

describe('a pushed request', () => {
  const push = (changes: Parameters = {}, headers = basic()) => post('/connect/par', request(changes), headers)
  const open = (request_uri: string, client_id = client.app.id) =>
    platform.call(
      'GET',
      `/connect/authorize?${encoded({ client_id, request_uri, state: 'injected', scope: 'everything' })}`,
    )

  it('stands for its parameters, so that nothing in the address changes them, and works once (RFC 9126 §4, §7.3)', async () => {
    const { status, body } = await push({ scope: 'runs:read' })
    expect([status, body.expires_in]).toEqual([201, 90])
    const opened = await open(body.request_uri)
    const tg = new URL(opened.headers.location ?? '').searchParams.get('tg') ?? ''
    const person = await act.signIn()
    expect((await act.open(person.token, tg)).body.scopes.map(({ scope }: { scope: string }) => scope)).toEqual([
      'runs:read',
    ])
    const { body: decided } = await act.decide(person.token, tg)
    expect(new URL(decided.redirect_to).searchParams.get('state')).toBe('st/ate')
    expect((await open(body.request_uri)).body.error).toBe('invalid_request')
  })

  it('opens for its own client alone, and for 90 seconds (RFC 9126 §2.2)', async () => {
    const other = await installed(platform.deps)
    const { body } = await push()
    expect((await open(body.request_uri, other.app.id)).body.error).toBe('invalid_request')
    expect((await open('urn:ietf:params:oauth:request_uri:guess')).body.error).toBe('invalid_request')
    platform.clock.advance(90_000)
    expect((await open(body.request_uri)).body.error).toBe('invalid_request')
  })

  it('is checked when it is pushed, by an authenticated client (RFC 9126 §2.1, §2.3)', async () => {
    refused(await push({}, basic(client.app.id, 'cs_wrong')), 'invalid_client', 401)
    refused(await push({ client_id: undefined }), 'invalid_request')
    refused(await push({ scope: 'everything' }), 'invalid_scope')
    refused(await push({ redirect_uri: 'https://evil.example/' }), 'invalid_request')
    refused(await push({ request_uri: 'urn:ietf:params:oauth:request_uri:x' }), 'invalid_request')
    refused(await push({ resource: 'https://platform.test/mcp' }), 'invalid_target')
  })
})
