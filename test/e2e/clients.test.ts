import { setTimeout as sleep } from 'node:timers/promises'
import { exportJWK, generateKeyPair } from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { beforeAll, describe, expect, it } from 'vitest'
import { startReceiver } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { type Agent, consent, must, newAgent, pkce, send, until } from './support.ts'
import { usingLocal, usingOwnLocal } from './using-local.ts'

const REDIRECT = 'http://127.0.0.1:9/callback'
/** Allows plain HTTP, which the libraries otherwise refuse. */
const LOOPBACK = { [oauth.allowInsecureRequests]: true }

let agent: Agent
const running = usingLocal()
const receiver = usingReceiver()
beforeAll(async () => {
  agent = await newAgent(running.baseUrl, { endpoint: receiver.url, redirectUri: REDIRECT })
})

describe('openid-client', () => {
  const discover = (secret = agent.app.client_secret) =>
    openid.discovery(new URL(running.baseUrl), agent.app.client_id, secret, openid.ClientSecretPost(secret), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })

  /** Authorizes with a fresh state and verifier, through a person's decision. */
  const back = async (config: openid.Configuration, decision: 'approve' | 'deny' = 'approve') => {
    const verifier = openid.randomPKCECodeVerifier()
    const state = openid.randomState()
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      scope: 'runs:write webhooks:manage',
      state,
    })
    return { url: await consent(running.baseUrl, url, agent.sandboxId, decision), verifier, state }
  }

  it('discovers, gets tokens by code and PKCE, calls the API, refreshes', async () => {
    const config = await discover()
    const { url, verifier, state } = await back(config)
    const tokens = await openid.authorizationCodeGrant(config, url, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    })
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 7_200, scope: 'runs:write webhooks:manage' })
    const me = await openid.fetchProtectedResource(
      config,
      tokens.access_token,
      new URL('/api/v1/me', running.baseUrl),
      'GET',
    )
    expect(me.status).toBe(200)
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)
    await expect(openid.refreshTokenGrant(config, tokens.refresh_token ?? '')).rejects.toSatisfy(says('invalid_grant'))
  })

  it('gets invalid_client for a wrong secret and invalid_grant for a code used twice', async () => {
    const config = await discover()
    const { url, verifier, state } = await back(config)
    const checks = { pkceCodeVerifier: verifier, expectedState: state }
    const wrong = await discover('cs_wrong')
    await expect(openid.authorizationCodeGrant(wrong, url, checks)).rejects.toSatisfy(says('invalid_client'))
    await openid.authorizationCodeGrant(config, url, checks)
    await expect(openid.authorizationCodeGrant(config, url, checks)).rejects.toSatisfy(says('invalid_grant'))
  })

  it('gets access_denied when the person denies access', async () => {
    const config = await discover()
    const { url, verifier, state } = await back(config, 'deny')
    const denied = openid.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier, expectedState: state })
    await expect(denied).rejects.toMatchObject({ error: 'access_denied' })
  })

  it('introspects its tokens, and revokes them', async () => {
    const config = await discover()
    const { url, verifier, state } = await back(config)
    const checks = { pkceCodeVerifier: verifier, expectedState: state }
    const { access_token, refresh_token = '' } = await openid.authorizationCodeGrant(config, url, checks)
    for (const [token, token_type] of [
      [access_token, 'Bearer'],
      [refresh_token, 'refresh_token'],
    ] as const) {
      expect(await openid.tokenIntrospection(config, token)).toMatchObject({
        active: true,
        client_id: agent.app.client_id,
        scope: 'runs:write webhooks:manage',
        token_type,
        iss: running.baseUrl,
      })
    }
    await openid.tokenRevocation(config, refresh_token, { token_type_hint: 'refresh_token' })
    for (const token of [access_token, refresh_token, 'nonsense']) {
      expect(await openid.tokenIntrospection(config, token)).toEqual({ active: false })
    }
    await openid.tokenRevocation(config, 'nonsense')
    await expect(openid.refreshTokenGrant(config, refresh_token)).rejects.toSatisfy(says('invalid_grant'))
    const wrong = await discover('cs_wrong')
    await expect(openid.tokenIntrospection(wrong, access_token)).rejects.toSatisfy(says('invalid_client'))
    await expect(openid.tokenRevocation(wrong, access_token)).rejects.toSatisfy(says('invalid_client'))
  })

  it('gets invalid_token from the API', async () => {
    const config = await discover()
    const call = openid.fetchProtectedResource(config, 'nonsense', new URL('/api/v1/me', running.baseUrl), 'GET')
    await expect(call).rejects.toSatisfy(says('invalid_token'))
  })
})

/** The second issuer follows the RFCs strictly, so the libraries work in their default settings, with typed errors. */
describe('the issuer /connect', () => {
  const issuer = () => new URL(`${running.baseUrl}/connect`)
  const discover = (secret = agent.app.client_secret, auth = openid.ClientSecretBasic(secret)) =>
    openid.discovery(issuer(), agent.app.client_id, undefined, auth, { execute: [openid.allowInsecureRequests] })
  const checksOf = async () => {
    const verifier = openid.randomPKCECodeVerifier()
    const state = openid.randomState()
    const query = {
      redirect_uri: REDIRECT,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      scope: 'runs:write',
      resource: `${running.baseUrl}/api/v1`,
      state,
    }
    return { query, checks: { pkceCodeVerifier: verifier, expectedState: state } }
  }
  const connect = async (config: openid.Configuration) => {
    const { query, checks } = await checksOf()
    const url = await consent(running.baseUrl, openid.buildAuthorizationUrl(config, query), agent.sandboxId)
    return { url, checks }
  }
  const me = (token: string) => send(running.baseUrl, 'GET', '/api/v1/me', { token })
  const rejected = (error: string, status: number) => ({ name: 'ResponseBodyError', error, status })

  it('takes openid-client, which finds it as an OpenID provider: install, invalid_grant, refresh, introspection, revocation', async () => {
    const config = await discover()
    const { url, checks } = await connect(config)
    expect(url.searchParams.get('iss')).toBe(issuer().href)
    const tokens = await openid.authorizationCodeGrant(config, url, checks)
    expect((await me(tokens.access_token)).status).toBe(200)
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(await openid.tokenIntrospection(config, next.access_token)).toMatchObject({
      active: true,
      scope: 'runs:write',
    })
    const another = await connect(config)
    const second = await openid.authorizationCodeGrant(config, another.url, another.checks)
    const again = openid.authorizationCodeGrant(config, another.url, another.checks)
    await expect(again).rejects.toMatchObject(rejected('invalid_grant', 400))
    expect((await me(second.access_token)).status, 'a code used twice ends its grant').toBe(401)
    await openid.tokenRevocation(config, next.refresh_token ?? '')
    expect((await me(next.access_token)).status, 'revocation is effective at once').toBe(401)
    expect(await openid.tokenIntrospection(config, next.access_token)).toEqual({ active: false })
    const ended = openid.refreshTokenGrant(config, next.refresh_token ?? '')
    await expect(ended).rejects.toMatchObject(rejected('invalid_grant', 400))
    // A wrong secret answers with a challenge, which the library reports as such (RFC 6749 §5.2).
    const wrong = await discover('cs_wrong')
    const refused = openid.tokenIntrospection(wrong, next.access_token)
    await expect(refused).rejects.toMatchObject({ name: 'WWWAuthenticateChallengeError', status: 401 })
  })

  it('takes openid-client with a key instead of a secret: pushed request, install, refresh, introspection, revocation', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const { headers, app } = agent
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] }
    await must(running.baseUrl, 'PATCH', `/api/v1/dev/apps/${app.id}`, { headers, body: { jwks } })
    const config = await discover('', openid.PrivateKeyJwt({ key: privateKey, kid: 'one' }))
    const { query, checks } = await checksOf()
    const address = await openid.buildAuthorizationUrlWithPAR(config, query)
    const url = await consent(running.baseUrl, address, agent.sandboxId)
    const tokens = await openid.authorizationCodeGrant(config, url, checks)
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(await openid.tokenIntrospection(config, next.access_token)).toMatchObject({ active: true })
    await openid.tokenRevocation(config, next.refresh_token ?? '')
    expect((await me(next.access_token)).status).toBe(401)
  })

  it('takes pushed requests, once, and a denial', async () => {
    const config = await discover(agent.app.client_secret, openid.ClientSecretPost(agent.app.client_secret))
    const { query, checks } = await checksOf()
    const address = await openid.buildAuthorizationUrlWithPAR(config, query)
    expect([...address.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
    const url = await consent(running.baseUrl, address, agent.sandboxId, 'deny')
    const denied = openid.authorizationCodeGrant(config, url, checks)
    await expect(denied).rejects.toMatchObject({ error: 'access_denied' })
    const used = await fetch(address, { redirect: 'manual' })
    expect([used.status, await used.json()]).toMatchObject([400, { error: 'invalid_request' }])
  })

  it('takes oauth4webapi, which finds it by RFC 8414 at the root of the host', async () => {
    const as = await oauth
      .discoveryRequest(issuer(), { algorithm: 'oauth2', ...LOOPBACK })
      .then((response) => oauth.processDiscoveryResponse(issuer(), response))
    const client: oauth.Client = { client_id: agent.app.client_id }
    const { url, checks } = await connect(await discover())
    const parameters = oauth.validateAuthResponse(as, client, url, checks.expectedState)
    const basic = oauth.ClientSecretBasic(agent.app.client_secret)
    const tokens = await oauth
      .authorizationCodeGrantRequest(as, client, basic, parameters, REDIRECT, checks.pkceCodeVerifier, LOOPBACK)
      .then((response) => oauth.processAuthorizationCodeResponse(as, client, response))
    const next = await oauth
      .refreshTokenGrantRequest(as, client, basic, tokens.refresh_token ?? '', LOOPBACK)
      .then((response) => oauth.processRefreshTokenResponse(as, client, response))
    expect((await me(next.access_token)).status).toBe(200)
    const introspect = (token: string) =>
      oauth
        .introspectionRequest(as, client, basic, token, LOOPBACK)
        .then((response) => oauth.processIntrospectionResponse(as, client, response))
    expect(await introspect(next.access_token)).toMatchObject({ active: true, client_id: client.client_id })
    const reused = oauth
      .refreshTokenGrantRequest(as, client, basic, tokens.refresh_token ?? '', LOOPBACK)
      .then((response) => oauth.processRefreshTokenResponse(as, client, response))
    await expect(reused).rejects.toMatchObject(rejected('invalid_grant', 400))
    expect((await me(next.access_token)).status, 'reuse ends the grant').toBe(401)

    const another = await connect(await discover())
    const second = await oauth
      .authorizationCodeGrantRequest(
        as,
        client,
        basic,
        oauth.validateAuthResponse(as, client, another.url, another.checks.expectedState),
        REDIRECT,
        another.checks.pkceCodeVerifier,
        LOOPBACK,
      )
      .then((response) => oauth.processAuthorizationCodeResponse(as, client, response))
    const revoked = await oauth.revocationRequest(as, client, basic, second.refresh_token ?? '', LOOPBACK)
    expect(await oauth.processRevocationResponse(revoked)).toBeUndefined()
    expect((await me(second.access_token)).status, 'revocation is effective at once').toBe(401)
    expect(await introspect(second.access_token)).toEqual({ active: false })
  })
})

describe('oauth4webapi', () => {
  it('does the same step by step, with iss checked, and reads the code of an error', async () => {
    const issuer = new URL(running.baseUrl)
    const as = await oauth
      .discoveryRequest(issuer, { algorithm: 'oauth2', ...LOOPBACK })
      .then((response) => oauth.processDiscoveryResponse(issuer, response))
    const client: oauth.Client = { client_id: agent.app.client_id }
    const secret = oauth.ClientSecretPost(agent.app.client_secret)

    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const authorize = new URL(as.authorization_endpoint ?? '')
    authorize.search = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    }).toString()
    const url = await consent(running.baseUrl, authorize, agent.sandboxId)
    const parameters = oauth.validateAuthResponse(as, client, url, state)

    const exchange = (auth: oauth.ClientAuth, given = verifier) =>
      oauth
        .authorizationCodeGrantRequest(as, client, auth, parameters, REDIRECT, given, LOOPBACK)
        .then((response) => oauth.processAuthorizationCodeResponse(as, client, response))
    await expect(exchange(oauth.ClientSecretPost('cs_wrong'))).rejects.toSatisfy(says('invalid_client'))
    await expect(exchange(secret, oauth.generateRandomCodeVerifier())).rejects.toSatisfy(says('invalid_grant'))
    const tokens = await exchange(secret)

    const refresh = (token: string) =>
      oauth
        .refreshTokenGrantRequest(as, client, secret, token, LOOPBACK)
        .then((response) => oauth.processRefreshTokenResponse(as, client, response))
    const second = await refresh(tokens.refresh_token ?? '')
    const resource = (token: string) =>
      oauth.protectedResourceRequest(token, 'GET', new URL('/api/v1/me', issuer), undefined, null, LOOPBACK)
    expect((await resource(second.access_token)).status).toBe(200)

    const introspect = (token: string) =>
      oauth
        .introspectionRequest(as, client, secret, token, LOOPBACK)
        .then((response) => oauth.processIntrospectionResponse(as, client, response))
    expect(await introspect(second.access_token)).toMatchObject({ active: true, client_id: client.client_id })
    expect(await introspect(tokens.refresh_token ?? '')).toEqual({ active: false })

    await expect(refresh(tokens.refresh_token ?? '')).rejects.toSatisfy(says('invalid_grant'))
    // Reuse revoked the chain, so the current pair is invalid, too.
    await expect(resource(second.access_token)).rejects.toSatisfy(says('invalid_token'))
    const revoked = await oauth.revocationRequest(as, client, secret, second.refresh_token ?? '', LOOPBACK)
    expect(await oauth.processRevocationResponse(revoked)).toBeUndefined()
  })

  it('finds the protected resource’s metadata at its well-known path, and the server in it', async () => {
    const metadata = await must(running.baseUrl, 'GET', '/.well-known/oauth-protected-resource')
    expect(metadata).toMatchObject({
      resource: running.baseUrl,
      authorization_servers: [`${running.baseUrl}/connect`, running.baseUrl],
    })
    const refused = await send(running.baseUrl, 'GET', '/api/v1/me')
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${running.baseUrl}/.well-known/oauth-protected-resource"`,
    )
  })
})

describe('a client whose network repeats requests', () => {
  const connected = async () => {
    const { verifier, challenge } = pkce()
    const authorize = new URL('/oauth/authorize', running.baseUrl)
    authorize.search = new URLSearchParams({
      client_id: agent.app.client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }).toString()
    // Encoded by hand instead of by a library: a plus and %20 are blanks, %2B is a plus.
    authorize.search += '&state=a+b%20c%2Bd%25%26%3D%E2%98%95'
    const back = await consent(running.baseUrl, authorize, agent.sandboxId)
    expect(back.searchParams.get('state')).toBe('a b c+d%&=☕')
    const code = back.searchParams.get('code') ?? ''
    return { code, verifier }
  }
  const own = () => ({ client_id: agent.app.client_id, client_secret: agent.app.client_secret })
  const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    send(running.baseUrl, 'POST', '/oauth/token', { body: new URLSearchParams({ ...own(), ...fields }), headers })
  /** Sends all requests at once under one Idempotency-Key. Requests that don't get the pair are told to retry. */
  const together = async (fields: Record<string, string>) => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(fields, headers)))
    for (const { status, text, headers: given } of answers) {
      expect([200, 409], text).toContain(status)
      if (status === 409) expect(given.get('retry-after')).toMatch(/^\d+$/)
    }
    const last = await post(fields, headers)
    expect(last.status, last.text).toBe(200)
    expect(new Set([...answers.filter(({ status }) => status === 200), last].map(({ text }) => text)).size).toBe(1)
    return last.body as { access_token: string; refresh_token: string }
  }

  it('gets one pair for a code and one for a refresh, and the chain stays valid', async () => {
    const { code, verifier } = await connected()
    const first = await together({ grant_type: 'authorization_code', code, code_verifier: verifier })
    // The client's rate limit is 50 a second with a burst of 100.
    await sleep(1_100)
    const pair = await together({ grant_type: 'refresh_token', refresh_token: first.refresh_token })
    expect((await send(running.baseUrl, 'GET', '/api/v1/me', { token: pair.access_token })).status).toBe(200)
    expect((await post({ grant_type: 'refresh_token', refresh_token: pair.refresh_token })).status).toBe(200)
  })
})

describe('with REFRESH_REUSE_WINDOW_SECONDS', () => {
  const lenient = usingOwnLocal(() => ({ env: { REFRESH_REUSE_WINDOW_SECONDS: '30' } }))

  it('50 simultaneous refreshes without a key are one rotation, round after round', async () => {
    const { app, headers } = await newAgent(lenient.baseUrl, { endpoint: receiver.url })
    const { client_id, client_secret, id } = app
    const issued = await must(lenient.baseUrl, 'POST', `/api/v1/dev/apps/${id}/sandbox-token`, { headers })
    const refresh = (refresh_token: string) =>
      send(lenient.baseUrl, 'POST', '/oauth/token.json', {
        body: { grant_type: 'refresh_token', client_id, client_secret, refresh_token },
      })
    let token: string = issued.refresh_token
    for (let round = 0; round < 2; round++) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(token)))
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      token = answers[0]?.body.refresh_token
      await sleep(1_100)
    }
    expect((await refresh(issued.refresh_token)).body.error.code, 'an older one is reuse').toBe('invalid_grant')
    expect((await refresh(token)).body.error.code).toBe('invalid_grant')
  })
})

describe('a delivery over HTTP', () => {
  it('verifies with the unmodified stripe and standardwebhooks libraries, and fails when a byte differs', async () => {
    const { baseUrl } = running
    const token = (await must(baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/sandbox-token`, agent)).access_token
    const hooks = await startReceiver()
    try {
      const { secret } = await must(baseUrl, 'POST', '/api/v1/webhooks', {
        token,
        body: { url: `${hooks.url}/in`, events: ['custom.*'] },
      })
      const data = { name: 'Zoë', note: 'naïve ☕' }
      await must(baseUrl, 'POST', '/api/v1/tools/emit_event/invoke', {
        token,
        body: { arguments: { type: 'custom.order.paid', data } },
      })
      const delivery = await until(() => hooks.requests[0])
      const body = delivery.body.toString()
      const header = (name: string) => String(delivery.headers[name] ?? '')

      const { webhooks } = new Stripe('sk_test_unused')
      const event = webhooks.constructEvent(body, header('x-svc-signature'), secret) as unknown as {
        type: string
        data: object
      }
      expect(event).toMatchObject({ type: 'custom.order.paid', data })
      expect(() => webhooks.constructEvent(`${body} `, header('x-svc-signature'), secret)).toThrow(/signature/)

      const standard = new Webhook(secret)
      const signed = {
        'webhook-id': header('webhook-id'),
        'webhook-timestamp': header('webhook-timestamp'),
        'webhook-signature': header('webhook-signature'),
      }
      expect(standard.verify(body, signed)).toMatchObject({ id: signed['webhook-id'], data })
      expect(() => standard.verify(`${body} `, signed)).toThrow(/signature/)
    } finally {
      await hooks.close()
    }
  })
})

/** The libraries keep a challenge's code in `cause`, an error body's in `error`. */
function says(code: string) {
  return (error: unknown): boolean => {
    const { cause, error: direct } = error as { cause?: unknown; error?: unknown }
    return direct === code || JSON.stringify(cause ?? null).includes(`"error":"${code}"`)
  }
}
