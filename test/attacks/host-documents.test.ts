import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { isDocumentAddress } from '#shared/access/hosts/document.ts'
import { HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { HOST_REDIRECT, hostActors } from '#testkit/hosts.ts'
import { formOf } from '#testkit/oauth.ts'
import { type Answer, startReceiver } from '#testkit/receiver.ts'
import { using } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const act = hostActors(platform)
const server = using(startReceiver, (started) => started.close())

let count = 0
let id: string
beforeEach(() => {
  platform.clock.advance(HOUR)
  id = `${server.url}/client-${++count}.json`
})

const JSON_TYPE = { 'content-type': 'application/json' }
const document = (changes: object = {}) => ({
  client_id: id,
  client_name: 'Assistant',
  redirect_uris: [HOST_REDIRECT],
  ...changes,
})
const serving = (value: unknown, headers: Record<string, string> = JSON_TYPE): Answer => ({
  kind: 'answer',
  headers,
  body: typeof value === 'string' ? value : JSON.stringify(value),
})
/** Returns what the person gets: the consent page, an error, or a redirect, which a refused document must never cause. */
const outcome = async (clientId = id) => {
  const { status, headers, body } = await act.authorize(clientId)
  return status === 302 ? 'consent' : headers.location === undefined ? (body.error as string) : 'redirected'
}

describe('the address of a document', () => {
  it.each([
    'https://host.example/client.json',
    'https://host.example/oauth/client.json?v=1',
    'https://host.example/@scope/client',
    'https://host.example:8443/a',
  ])('may be %s', (address) => expect(isDocumentAddress(address)).toBe(true))

  it.each([
    ['without a path', 'https://host.example'],
    ['with a bare slash', 'https://host.example/'],
    ['with a fragment', 'https://host.example/client.json#a'],
    ['with credentials', 'https://me:secret@host.example/client.json'],
    ['with an empty name', 'https://@host.example/client.json'],
    ['with dot segments', 'https://host.example/a/../client.json'],
    ['with encoded dot segments', 'https://host.example/a/%2e%2E/client.json'],
    ['with a single dot', 'https://host.example/./client.json'],
    ['with a backslash', 'https://host.example\\@evil.example/client.json'],
    ['with a space', 'https://host.example/ client.json'],
    ['of another scheme', 'ftp://host.example/client.json'],
    ['too long', `https://host.example/${'a'.repeat(2_048)}`],
  ])('isn’t one %s', async (_what, address) => {
    expect(isDocumentAddress(address)).toBe(false)
    const before = server.requests.length
    expect(await outcome(address)).toBe('invalid_client')
    expect(server.requests.length).toBe(before)
  })
})

describe('a client’s document', () => {
  it('is read once while it is fresh, and again afterwards', async () => {
    server.answer(serving(document(), { ...JSON_TYPE, 'cache-control': 'public, max-age=600' }))
    const before = server.requests.length
    for (let i = 0; i < 3; i++) expect(await outcome()).toBe('consent')
    expect(server.requests.length - before).toBe(1)
    platform.clock.advance(10 * MINUTE)
    expect(await outcome()).toBe('consent')
    expect(server.requests.length - before).toBe(2)
  })

  it.each<[string, () => Answer]>([
    ['that isn’t there', () => ({ kind: 'answer', status: 404, headers: JSON_TYPE, body: '{}' })],
    ['that is elsewhere', () => ({ kind: 'redirect', location: `${server.url}/other.json` })],
    ['of another client', () => serving(document({ client_id: `${id}?` }))],
    ['of more than 10 KiB', () => serving(document({ client_uri: 'x'.repeat(10_240) }))],
    ['without an end', () => ({ kind: 'endless' })],
    ['that inflates', () => ({ kind: 'bomb', encoding: 'gzip', bytes: 100_000_000 })],
    ['that is a page', () => serving(document(), { 'content-type': 'text/html' })],
    ['that isn’t JSON', () => serving('{"client_id":')],
    ['that isn’t an object', () => serving('[]')],
    ['without addresses', () => serving(document({ redirect_uris: [] }))],
    ['with 21 addresses', () => serving(document({ redirect_uris: Array.from({ length: 21 }, () => HOST_REDIRECT) }))],
    ['with a script as its only address', () => serving(document({ redirect_uris: ['javascript:alert(1)'] }))],
    ['without a name', () => serving(document({ client_name: '' }))],
    ['with an invisible name', () => serving(document({ client_name: '\u200b\u2060' }))],
    ['with a name of 101 characters', () => serving(document({ client_name: 'x'.repeat(101) }))],
    ['with a secret', () => serving(document({ client_secret: 'x' }))],
    ['that wants a secret', () => serving(document({ token_endpoint_auth_method: 'client_secret_basic' }))],
    [
      'with keys of another host',
      () => serving(document({ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://evil.example/jwks' })),
    ],
    ['with a key method and no keys', () => serving(document({ token_endpoint_auth_method: 'private_key_jwt' }))],
  ])('%s is refused until it is corrected', async (_what, answer) => {
    server.answer(answer())
    const before = server.requests.length
    expect(await outcome()).toBe('invalid_client')
    expect(await outcome()).toBe('invalid_client')
    expect(server.requests.length - before).toBe(2)
    server.answer(serving(document()))
    expect(await outcome()).toBe('consent')
  })

  it('that comes byte by byte is given up after 5 seconds', async () => {
    server.answer({ kind: 'drip', everyMs: 100 })
    const begun = performance.now()
    expect(await outcome()).toBe('invalid_client')
    expect(performance.now() - begun).toBeLessThan(7_000)
  })

  it('on a private address isn’t read', async () => {
    for (const address of [
      'https://10.0.0.1/c',
      'https://169.254.169.254/latest',
      'https://[::1]/c',
      'https://[fd00::1]/c',
      'https://127.0.0.1/c',
      'https://localhost/c',
      'https://0x7f000001/c',
    ])
      expect(await outcome(address), address).toBe('invalid_client')
  })

  it('in the clear isn’t read where programs of this machine aren’t trusted', async () => {
    server.answer(serving(document()))
    platform.deps.settings.allowLoopbackTargets = false
    const refused = await outcome()
    platform.deps.settings.allowLoopbackTargets = true
    expect(refused).toBe('invalid_client')
  })

  it('shows only its host as a fact, and its name cleaned', async () => {
    server.answer(serving(document({ client_name: 'Cl\u202eaude\n\u2066 verified' })))
    const place = await workspace(platform.deps)
    const person = await member(platform.deps, place.id, 'member')
    const { body } = await act.open(person.token, await act.link(id))
    expect(body.client).toEqual({ name: 'Claude  verified', host: new URL(server.url).host, kind: 'document' })
  })

  it('can’t take back what people granted by failing, but gets no new consent', async () => {
    server.answer(serving(document()))
    const place = await workspace(platform.deps)
    const person = await member(platform.deps, place.id, 'member')
    const { body } = await act.redeem(id, await act.consented(id, person.token))
    platform.clock.advance(2 * HOUR)
    server.answer({ kind: 'reset', when: 'before' })
    expect(await outcome()).toBe('invalid_client')
    expect((await act.refresh(id, body.refresh_token)).status).toBe(200)
  })
})

describe('a client with keys', () => {
  const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
  const scene = async (changes: object = {}) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] }
    server.answer(serving(document({ token_endpoint_auth_method: 'private_key_jwt', jwks, ...changes })))
    const place = await workspace(platform.deps)
    const person = await member(platform.deps, place.id, 'member')
    const consent = await act.consented(id, person.token)
    const seconds = Math.floor(platform.clock.now() / 1_000)
    const assertion = (claims: object = {}, key: Parameters<SignJWT['sign']>[0] = privateKey) =>
      new SignJWT({
        iss: id,
        sub: id,
        aud: 'https://platform.test/connect',
        jti: crypto.randomUUID(),
        iat: seconds,
        exp: seconds + 60,
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .sign(key)
    const redeem = async (client_assertion: string) =>
      act.redeem(id, consent, { client_assertion, client_assertion_type })
    return { assertion, redeem, consent, jwks, seconds }
  }

  it('must authenticate with them, with a new assertion each time (RFC 7523 §3)', async () => {
    const { assertion, redeem, consent, seconds } = await scene()
    expect((await act.redeem(id, consent)).status).toBe(401)
    const { privateKey: foreign } = await generateKeyPair('ES256')
    for (const wrong of [
      await assertion({}, foreign),
      await assertion({ aud: 'https://other.example' }),
      // Another server, where the host has the same id and key, could have made it sign these.
      await assertion({ aud: 'https://platform.test/connect/token' }),
      await assertion({ aud: ['https://other.example', 'https://platform.test/connect'] }),
      await assertion({ iss: 'https://other.example/c' }),
      await assertion({ sub: 'app_x' }),
      await assertion({ exp: seconds - 60 }),
      await assertion({ exp: seconds + 2 * 3_600 }),
      await assertion({ jti: undefined }),
      'nonsense',
    ])
      expect((await redeem(wrong)).body.error).toBe('invalid_client')
    platform.deps.settings.appEndpointAudience = true
    const injected = await redeem(await assertion({ aud: 'https://platform.test/connect/token' }))
    platform.deps.settings.appEndpointAudience = false
    expect([injected.status, injected.body.error]).toEqual([401, 'invalid_client'])
    const good = await assertion()
    const { status, body } = await redeem(good)
    expect(status).toBe(200)
    const again = await act.refresh(id, body.refresh_token, {
      client_assertion: good,
      client_assertion_type,
    })
    expect(again.body.error).toBe('invalid_client')
  })

  it('needs no client_id where its assertion names it (RFC 7521 §4.2)', async () => {
    const { assertion, consent } = await scene()
    const by = async () => ({
      client_assertion: await assertion(),
      client_assertion_type,
    })
    const post = async (path: string, fields: object) =>
      platform.call('POST', path, formOf({ ...fields, ...(await by()) }))
    const { code, verifier } = consent
    const { status, body } = await post('/connect/token', {
      ...{ grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: HOST_REDIRECT },
    })
    expect([status, body.token_type]).toEqual([200, 'Bearer'])
    expect((await post('/connect/revoke', { token: body.access_token })).status).toBe(200)
    const ended = await post('/connect/token', { grant_type: 'refresh_token', refresh_token: body.refresh_token })
    expect(ended.body.error).toBe('invalid_grant')
  })

  it('has the keys that its document names now, once the document’s lifetime has passed', async () => {
    const { assertion, redeem } = await scene()
    const { body } = await redeem(await assertion())
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] }
    const keyed = serving(document({ token_endpoint_auth_method: 'private_key_jwt', jwks }))
    const refresh = async (key?: typeof privateKey) => {
      const seconds = Math.floor(platform.clock.now() / 1_000)
      const client_assertion = await assertion({ iat: seconds, exp: seconds + 60 }, key)
      const { body: given } = await act.refresh(id, body.refresh_token, { client_assertion, client_assertion_type })
      body.refresh_token = given.refresh_token ?? body.refresh_token
      return given.error ?? 'tokens'
    }
    server.answer(keyed)
    platform.clock.advance(HOUR - MINUTE)
    expect([await refresh(), await refresh(privateKey)]).toEqual(['tokens', 'invalid_client'])
    platform.clock.advance(2 * MINUTE)
    expect([await refresh(), await refresh(privateKey)]).toEqual(['invalid_client', 'tokens'])
    // A key that can't be looked up may have been withdrawn.
    platform.clock.advance(2 * HOUR)
    server.answer({ kind: 'reset', when: 'before' })
    expect([await refresh(privateKey), await refresh(privateKey)]).toEqual(['invalid_client', 'invalid_client'])
    platform.clock.advance(MINUTE)
    server.answer(keyed)
    expect(await refresh(privateKey)).toBe('tokens')
  })

  it('must authenticate as its document says now, once the document’s lifetime has passed', async () => {
    const { assertion, redeem, jwks } = await scene({ token_endpoint_auth_method: 'none' })
    const { body } = await redeem(await assertion())
    server.answer(serving(document({ token_endpoint_auth_method: 'private_key_jwt', jwks })))
    platform.clock.advance(2 * HOUR)
    const { body: refused } = await act.refresh(id, body.refresh_token)
    expect(refused.error).toBe('invalid_client')
    const seconds = Math.floor(platform.clock.now() / 1_000)
    const client_assertion = await assertion({ iat: seconds, exp: seconds + 60 })
    const { status } = await act.refresh(id, body.refresh_token, { client_assertion, client_assertion_type })
    expect(status).toBe(200)
  })

  it('may publish them at an address of its own host, and change them', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const jwks_uri = `${server.url}/jwks`
    const { assertion, redeem } = await scene({ jwks: undefined, jwks_uri })
    server.answer(serving({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] }))
    expect((await redeem(await assertion({}, privateKey))).status).toBe(200)
    expect(server.requests.at(-1)?.path).toBe('/jwks')
  })
})
