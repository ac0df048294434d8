import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { HostGrantEntity } from '#shared/access/hosts/index.ts'
import { MemberEntity, UserEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { DAY, HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { HOST_SCOPES } from '#shared/kernel/host-resources.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { HOST_REDIRECT, hostActors } from '#testkit/hosts.ts'
import { formOf, pkce } from '#testkit/oauth.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { createClient } from '../mcp/mcp-support.ts'

const platform = usingPlatform()
const act = hostActors(platform)
const baseUrl = 'https://platform.test'

let client: string
let place: Awaited<ReturnType<typeof workspace>>
let person: Awaited<ReturnType<typeof member>>
beforeEach(async () => {
  platform.clock.advance(HOUR)
  place = await workspace(platform.deps)
  person = await member(platform.deps, place.id, 'member')
  client = await act.register()
})

const mcp = async (token: string, path = '/mcp') =>
  (await createClient(platform, token).modern('tools/list', {}, { path })).status

/** Signs in and returns the tokens. */
const signedIn = async (changes: Record<string, string | undefined> = {}, decision: object = {}) => {
  const consent = await act.consented(client, person.token, changes, decision)
  const { status, body } = await act.redeem(client, consent)
  expect(status, JSON.stringify(body)).toBe(200)
  return { ...consent, ...body } as {
    access_token: string
    refresh_token: string
    scope: string
    code: string
    verifier: string
  }
}
const grants = async () =>
  (await platform.deps.table.query(HostGrantEntity, { workspace_id: place.id }, { limit: 100 })).items
const LOOPBACK = 'http://127.0.0.1:33418/cb'
/** Parameters of every answer to a client. */
const BACK = { state: 'st/ate?&=é', iss: `${baseUrl}/connect`, error_description: expect.any(String) }

/** Sends an authorize request. @param more further parameters, encoded */
const authorizeAt = async (clientId: string, changes: Record<string, string | undefined>, more = '') => {
  const { resource, ...others } = changes
  const resources = resource?.split(' ').map((address) => `&resource=${encodeURIComponent(address)}`) ?? []
  return platform.call('GET', `${act.authorizePath(clientId, others)}${resources.join('')}${more}`)
}
/** Returns where an address leads, and its parameters. */
const returned = (address = '') => {
  const { origin, pathname, searchParams } = new URL(address)
  return [origin + pathname, Object.fromEntries(searchParams)]
}
/** Returns where the button of a page leads. */
const linkOf = (html: string): string =>
  (/<a role="button" href="([^"]+)"/.exec(html)?.[1] ?? '').replaceAll(/&#(\d+);/g, (_all, code) =>
    String.fromCharCode(code),
  )

const errorOf = ({ status, body }: { status: number; body: { error?: string } }) => [status, body.error]

describe('the metadata', () => {
  it('says what hosts can do, with the issuer of the resources’ documents (RFC 8414 §2, 9728 §2)', async () => {
    for (const path of [
      '/.well-known/oauth-authorization-server/connect',
      '/connect/.well-known/oauth-authorization-server',
    ]) {
      const { body } = await platform.call('GET', path)
      expect(body).toMatchObject({
        issuer: `${baseUrl}/connect`,
        registration_endpoint: `${baseUrl}/connect/register`,
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none', 'private_key_jwt'],
      })
    }
  })
})

describe('registering', () => {
  it('makes a public client, whatever it asks for (RFC 7591 §3.2.1)', async () => {
    const body = {
      client_name: '  Helper\u202e ',
      redirect_uris: [HOST_REDIRECT, 'http://127.0.0.1:33418/', 'cursor://anysphere.cursor-mcp/oauth/callback'],
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['client_credentials'],
      logo_uri: 'https://evil.example/logo.svg',
    }
    const answer = await platform.call('POST', '/connect/register', { body })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      client_id: expect.stringMatching(/^mcpc_[\w-]{43}$/),
      client_id_issued_at: Math.floor(platform.clock.now() / 1_000),
      client_name: 'Helper',
      redirect_uris: body.redirect_uris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
  })

  it.each([
    ['none', []],
    ['a script', ['javascript:alert(1)']],
    ['a page in the clear', ['http://assistant.example/callback']],
    ['a name that only looks like the own machine', ['http://localhost.evil.example/']],
    ['a scheme that the stage doesn’t know', ['zed://callback']],
    ['a fragment', [`${HOST_REDIRECT}#here`]],
    ['credentials', ['https://user@assistant.example/']],
    ['a backslash', ['https://assistant.example\\@evil.example/']],
    ['a line break', ['https://assistant.example/\n']],
    ['a data address beside a good one', [HOST_REDIRECT, 'data:text/html,x']],
    ['more than 20', Array.from({ length: 21 }, (_, i) => `${HOST_REDIRECT}/${i}`)],
  ])('refuses a list of addresses with %s (RFC 7591 §3.2.2)', async (_what, redirect_uris) => {
    const answer = await platform.call('POST', '/connect/register', { body: { client_name: 'X', redirect_uris } })
    expect(errorOf(answer)).toEqual([400, 'invalid_redirect_uri'])
  })

  it.each<[string, object | string]>([
    ['a name that is a number', { redirect_uris: [HOST_REDIRECT], client_name: 5 }],
    ['one address instead of a list', { redirect_uris: HOST_REDIRECT }],
    ['a list', [HOST_REDIRECT]],
    ['no JSON', '{"redirect_uris":'],
  ])('refuses %s as invalid metadata (RFC 7591 §3.2.2)', async (_what, body) => {
    const answer = await platform.call('POST', '/connect/register', {
      body,
      ...(typeof body === 'string' && { headers: { 'content-type': 'application/json' } }),
    })
    expect(errorOf(answer)).toEqual([400, 'invalid_client_metadata'])
  })

  it('ends where the operator turns it off, and after 90 days without use', async () => {
    platform.deps.settings.hostRegistration = false
    const refused = await platform.call('POST', '/connect/register', { body: { redirect_uris: [HOST_REDIRECT] } })
    const metadata = await platform.call('GET', '/connect/.well-known/oauth-authorization-server')
    platform.deps.settings.hostRegistration = true
    expect(refused.status).toBe(400)
    expect(metadata.body.registration_endpoint).toBeUndefined()
    platform.clock.advance(90 * DAY)
    expect((await act.authorize(client)).status).toBe(401)
  })
})

describe('authorizing', () => {
  it('leads to the consent page, which shows the client’s claim and where the person returns to', async () => {
    const tg = await act.link(client, { scope: 'runs:write chat:write' })
    expect(`connect_${tg}`).toMatch(/^[\w-]{51}$/)
    const { body } = await act.open(person.token, tg)
    expect(body).toMatchObject({
      client: { name: 'Assistant', host: 'assistant.example', kind: 'registered' },
      scopes: [
        { scope: 'runs:write', dangerous: false },
        { scope: 'chat:write', dangerous: true },
      ],
      agent: null,
      protocol: 'mcp',
      workspaces: [{ id: place.id, blocked_by: null }],
      claimed: true,
      redirect_host: 'assistant.example',
      loopback: false,
    })
    const overA2a = await act.link(client, { resource: `${baseUrl}/a2a` })
    expect((await act.open(person.token, overA2a)).body.protocol).toBe('a2a')
    const stranger = await member(platform.deps, place.id, 'owner')
    expect((await act.open(stranger.token, tg)).status).toBe(404)
    expect((await act.decide(stranger.token, tg)).status).toBe(404)
  })

  it('takes any port on the person’s own machine, and nothing else that differs (RFC 8252 §7.3)', async () => {
    const native = await act.register({ redirect_uris: ['http://127.0.0.1:33418/cb', 'http://[::1]/cb'] })
    const status = async (redirect_uri: string) => (await act.authorize(native, { redirect_uri })).status
    expect(await status('http://127.0.0.1:5000/cb')).toBe(302)
    expect(await status('http://[::1]:7777/cb')).toBe(302)
    for (const other of [
      'http://localhost:33418/cb',
      'http://127.0.0.1:33418/cb/',
      'http://127.0.0.1:33418/other',
      'https://127.0.0.1:33418/cb',
      'http://127.0.0.1.evil.example/cb',
      'http://127.0.0.1:80@evil.example/cb',
    ])
      expect(await status(other), other).toBe(400)
    const shown = (await act.open(person.token, await act.link(native, { redirect_uri: 'http://127.0.0.1:5000/cb' })))
      .body
    expect(shown).toMatchObject({ loopback: true, redirect_host: '127.0.0.1' })
  })

  it.each<[string, Record<string, string | undefined>, string]>([
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['a scope that hosts never get', { scope: 'tools:invoke' }, 'invalid_scope'],
    ['the scope of webhooks', { scope: 'runs:read webhooks:manage' }, 'invalid_scope'],
    ['the API of apps', { resource: `${baseUrl}/api/v1` }, 'invalid_target'],
    ['another server', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['a resource that only begins alike', { resource: `${baseUrl}/mcp/../api/v1` }, 'invalid_target'],
    [
      'an unknown resource besides a known one',
      { resource: `${baseUrl}/mcp https://other.example/mcp` },
      'invalid_target',
    ],
    ['resources of two tokens', { resource: `${baseUrl}/mcp ${baseUrl}/a2a` }, 'invalid_target'],
  ])(
    'sends an error about %s back, with state and issuer (RFC 6749 §4.1.2.1, 9207 §2)',
    async (_what, changes, error) => {
      const native = await act.register({ redirect_uris: [LOOPBACK] })
      const answer = await authorizeAt(native, { redirect_uri: LOOPBACK, ...changes })
      expect(answer.status).toBe(302)
      expect(returned(answer.headers.location)).toEqual([LOOPBACK, { ...BACK, error }])
      // Anybody can be the page of a host: the person is told before they go there.
      const page = await authorizeAt(client, changes)
      expect([page.status, page.headers.location, page.headers['content-type']]).toEqual([
        400,
        undefined,
        'text/html; charset=utf-8',
      ])
      expect(page.text).toContain('<bdi>assistant.example</bdi> made a request')
      expect(returned(linkOf(page.text))).toEqual([HOST_REDIRECT, { ...BACK, error }])
    },
  )

  it('sends an error about a repeated parameter back, without a state that was repeated (RFC 6749 §3.1, §4.1.2.1)', async () => {
    const native = await act.register({ redirect_uris: [LOOPBACK] })
    const twice = async (name: string, value: string) => {
      const { headers, status } = await authorizeAt(native, { redirect_uri: LOOPBACK }, `&${name}=${value}`)
      return status === 302 ? returned(headers.location) : status
    }
    expect(await twice('scope', 'runs:read&scope=runs:read')).toEqual([LOOPBACK, { ...BACK, error: 'invalid_request' }])
    expect(await twice('state', 'other')).toEqual([
      LOOPBACK,
      { iss: BACK.iss, error: 'invalid_request', error_description: BACK.error_description },
    ])
    expect(await twice('client_id', native)).toBe(400)
    expect(await twice('redirect_uri', encodeURIComponent(LOOPBACK))).toBe(400)
  })

  it.each([
    ['the bare origin', [baseUrl], '/mcp'],
    ['the bare origin with a slash', [`${baseUrl}/`], '/mcp'],
    ['a slash at the end', [`${baseUrl}/mcp/`], '/mcp'],
    ['the same twice', [`${baseUrl}/a2a`, `${baseUrl}/a2a/`], '/a2a'],
    ['an agent and all tools', [`${baseUrl}/mcp/agents/helper`, `${baseUrl}/mcp`], '/mcp'],
  ])('takes %s as a resource (RFC 8707 §2)', async (_what, addresses, resource) => {
    const repeated = addresses.map((address) => `&resource=${encodeURIComponent(address)}`).join('')
    const { verifier, challenge } = pkce()
    const { headers } = await authorizeAt(client, { code_challenge: challenge }, repeated)
    const tg = new URL(headers.location ?? '').searchParams.get('tg') ?? ''
    const code = new URL((await act.decide(person.token, tg)).body.redirect_to).searchParams.get('code') ?? ''
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: HOST_REDIRECT }
    const body = new URLSearchParams({ client_id: client, ...form }).toString() + repeated
    const answer = await platform.call('POST', '/connect/token', { ...formOf({}), body })
    expect(answer.status, answer.text).toBe(200)
    expect(decodeJwt(answer.body.access_token)).toMatchObject({ aud: baseUrl + resource, iss: `${baseUrl}/connect` })
  })

  it('shows an unknown client and an address of somebody else, and sends nothing there (RFC 6749 §4.1.2.1)', async () => {
    for (const [clientId, changes] of [
      [`mcpc_${'x'.repeat(43)}`, {}],
      ['mcpc_short', {}],
      [client, { redirect_uri: 'https://evil.example/callback' }],
      [client, { redirect_uri: `${HOST_REDIRECT}?a=1` }],
      [client, { redirect_uri: 'https://assistant.example.evil.example/callback' }],
    ] as const) {
      const answer = await act.authorize(clientId, changes)
      expect(answer.status, clientId).toBeGreaterThanOrEqual(400)
      expect(answer.headers.location).toBeUndefined()
    }
  })
})

describe('a pushed request of a host', () => {
  const push = (clientId: string, changes: Record<string, string> = {}) =>
    platform.call('POST', '/connect/par', {
      ...formOf({}),
      body: `${act.authorizePath(clientId, changes).split('?')[1]}`,
    })

  it('stands for its parameters and works once, for its own client (RFC 9126 §2.2, §4)', async () => {
    const { verifier, challenge } = pkce()
    const { status, body } = await push(client, {
      code_challenge: challenge,
      scope: 'runs:read',
      resource: `${baseUrl}/a2a`,
    })
    expect([status, body.expires_in]).toEqual([201, 90])
    const at = (clientId: string) =>
      platform.call(
        'GET',
        `/connect/authorize?${new URLSearchParams({ client_id: clientId, request_uri: body.request_uri, scope: 'x' })}`,
      )
    expect((await at(await act.register())).body.error).toBe('invalid_request')
    const tg = new URL((await at(client)).headers.location ?? '').searchParams.get('tg') ?? ''
    const back = returned((await act.decide(person.token, tg)).body.redirect_to)[1] as { code: string; state: string }
    expect(back.state).toBe(BACK.state)
    const tokens = (await act.redeem(client, { code: back.code, verifier })).body
    expect(tokens.scope).toBe('runs:read')
    expect(decodeJwt(tokens.access_token).aud).toBe(`${baseUrl}/a2a`)
    expect((await at(client)).body.error).toBe('invalid_request')
  })

  it('is checked when it is pushed (RFC 9126 §2.1)', async () => {
    expect(errorOf(await push(client, { scope: 'tools:invoke' }))).toEqual([400, 'invalid_scope'])
    expect(errorOf(await push(client, { resource: `${baseUrl}/api/v1` }))).toEqual([400, 'invalid_target'])
    expect(errorOf(await push(client, { redirect_uri: 'https://evil.example/' }))).toEqual([400, 'invalid_request'])
    expect(errorOf(await push(`mcpc_${'x'.repeat(43)}`))).toEqual([401, 'invalid_client'])
  })
})

describe('consenting', () => {
  it('grants what isn’t sensitive unless the person chooses, once, in one workspace, for this person', async () => {
    const scope = 'runs:read runs:write chat:write files:write'
    const consent = await act.consented(client, person.token, { scope })
    expect(Object.fromEntries(consent.back.searchParams)).toMatchObject({
      state: 'st/ate?&=é',
      iss: `${baseUrl}/connect`,
    })
    const [grant] = await grants()
    expect(grant).toMatchObject({
      user_id: person.user.id,
      scopes: ['runs:read', 'runs:write'],
      resource: '/mcp',
      client: { id: client, name: 'Assistant', host: 'assistant.example' },
    })
    expect((await act.decide(person.token, consent.tg)).body.error.code).toBe('expired_consent_link')
    const chosen = await signedIn({ scope }, { scopes: ['runs:read', 'chat:write'] })
    expect(chosen.scope).toBe('runs:read chat:write')
    const tg = await act.link(client, { scope: 'runs:read' })
    expect((await act.decide(person.token, tg, { scopes: ['runs:write'] })).body.error.code).toBe('insufficient_scope')
  })

  it('refused goes back as access_denied (RFC 6749 §4.1.2.1)', async () => {
    const tg = await act.link(client)
    const { body } = await act.decide(person.token, tg, { decision: 'deny' })
    expect(new URL(body.redirect_to).searchParams.get('error')).toBe('access_denied')
    expect(await grants()).toEqual([])
  })

  it('isn’t possible where the owner turned hosts off or doesn’t list this one, or in somebody else’s workspace', async () => {
    const set = (hosts: { enabled: boolean; allowed?: string[] }) =>
      platform.deps.table.transact([WorkspaceEntity.update({ id: place.id }, { set: { hosts } })])
    for (const [hosts, blocked_by] of [
      [{ enabled: false }, 'hosts_disabled'],
      [{ enabled: true, allowed: ['claude.ai'] }, 'host_not_allowed'],
    ] as const) {
      await set({ ...hosts, ...('allowed' in hosts && { allowed: [...hosts.allowed] }) } as Parameters<typeof set>[0])
      const tg = await act.link(client)
      expect((await act.open(person.token, tg)).body.workspaces[0].blocked_by).toBe(blocked_by)
      expect((await act.decide(person.token, tg)).body.error.code).toBe('forbidden')
    }
    const other = await workspace(platform.deps)
    const tg = await act.link(client)
    expect((await act.decide(person.token, tg, { workspace_id: other.id })).status).toBe(404)
  })
})

describe('tokens', () => {
  it('come for a code, with the resource that was asked for (RFC 6749 §5.1, 8707 §2.2)', async () => {
    const { access_token, scope } = await signedIn({ resource: `${baseUrl}/mcp/agents/helper` })
    expect(scope.split(' ').sort()).toEqual([...HOST_SCOPES].sort())
    expect(await mcp(access_token)).toBe(401)
    expect(await mcp(access_token, '/mcp/agents/helper')).toBe(404)
    expect(await mcp((await signedIn()).access_token)).toBe(200)
  })

  it('aren’t given for a wrong verifier, address, client or resource, and the code stays good (RFC 6749 §4.1.3, 7636 §4.6)', async () => {
    const consent = await act.consented(client, person.token)
    const other = await act.register()
    for (const [id, changes, error] of [
      [client, { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
      [client, { redirect_uri: `${HOST_REDIRECT}/` }, 'invalid_grant'],
      [client, { resource: `${baseUrl}/mcp/agents/x` }, 'invalid_target'],
      [other, {}, 'invalid_grant'],
      [client, { client_secret: 'guess' }, 'invalid_client'],
      [client, { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
      [client, { code: 'hc_x' }, 'invalid_grant'],
      [`mcpc_${'y'.repeat(43)}`, {}, 'invalid_client'],
    ] as const)
      expect((await act.redeem(id, consent, changes)).body.error, JSON.stringify(changes)).toBe(error)
    expect((await act.redeem(client, consent)).status).toBe(200)
  })

  it('come once for a code: another exchange ends the access (RFC 6749 §4.1.2)', async () => {
    const first = await signedIn()
    expect(errorOf(await act.redeem(client, first))).toEqual([400, 'invalid_grant'])
    expect(await mcp(first.access_token)).toBe(401)
    expect((await act.refresh(client, first.refresh_token)).body.error).toBe('invalid_grant')
    expect((await grants())[0]?.revoked_reason).toBe('code_reuse')
  })

  it('aren’t given for a code older than a minute', async () => {
    const consent = await act.consented(client, person.token)
    platform.clock.advance(MINUTE)
    expect((await act.redeem(client, consent)).body.error).toBe('invalid_grant')
  })

  it('are replaced by a refresh, whose answer can be got again for 30 seconds', async () => {
    const first = await signedIn()
    platform.clock.advance(HOUR)
    expect(await mcp(first.access_token)).toBe(401)
    const second = (await act.refresh(client, first.refresh_token)).body
    expect(await mcp(second.access_token)).toBe(200)
    platform.clock.advance(29_000)
    expect((await act.refresh(client, first.refresh_token)).body).toEqual(second)
    const third = (await act.refresh(client, second.refresh_token)).body
    expect(third.refresh_token).not.toBe(second.refresh_token)
    expect((await act.refresh(client, first.refresh_token)).body.error).toBe('invalid_grant')
    expect(await mcp(third.access_token)).toBe(401)
    expect((await grants())[0]?.revoked_reason).toBe('refresh_token_reuse')
  })

  it('end the access if a replaced refresh token comes later than that (RFC 9700 §4.14.2)', async () => {
    const first = await signedIn()
    const second = (await act.refresh(client, first.refresh_token)).body
    platform.clock.advance(31_000)
    expect((await act.refresh(client, first.refresh_token)).body.error).toBe('invalid_grant')
    expect(await mcp(second.access_token)).toBe(401)
  })

  it('have fewer scopes if the refresh asks for fewer, while the refresh token keeps all (RFC 6749 §6)', async () => {
    const first = await signedIn({ scope: 'workspace:read agents:read runs:write' })
    const narrow = (await act.refresh(client, first.refresh_token, { scope: 'runs:read agents:read' })).body
    expect(narrow.scope).toBe('agents:read runs:read')
    const call = async (token: string, name: string) =>
      (await createClient(platform, token).modern('tools/call', { name, arguments: {} })).status
    expect(await call(narrow.access_token, 'list_runs')).toBe(200)
    expect(await call(narrow.access_token, 'workspace_info')).toBe(403)
    const wider = await act.refresh(client, narrow.refresh_token, { scope: 'runs:write chat:write' })
    expect(errorOf(wider)).toEqual([400, 'invalid_scope'])
    const whole = (await act.refresh(client, narrow.refresh_token)).body
    expect(whole.scope).toBe(first.scope)
    expect(await call(whole.access_token, 'workspace_info')).toBe(200)
  })

  it('are the same for parallel refreshes', async () => {
    const { refresh_token } = await signedIn()
    const answers = await Promise.all([1, 2, 3].map(() => act.refresh(client, refresh_token)))
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1)
    expect(await mcp(answers[0]?.body.access_token)).toBe(200)
  })

  it('expire after 30 days without use, and 180 days after the consent', async () => {
    let { refresh_token } = await signedIn()
    for (let month = 0; month < 6; month++) {
      platform.clock.advance(29 * DAY)
      const { status, body } = await act.refresh(client, refresh_token)
      expect(status).toBe(200)
      refresh_token = body.refresh_token
    }
    platform.clock.advance(7 * DAY)
    expect((await act.refresh(client, refresh_token)).body.error).toBe('invalid_grant')
    person = await member(platform.deps, place.id, 'member')
    const idle = await signedIn()
    platform.clock.advance(30 * DAY)
    expect((await act.refresh(client, idle.refresh_token)).body.error).toBe('invalid_grant')
  })

  it('of another client refresh and revoke nothing (RFC 6749 §6, 7009 §2.1)', async () => {
    const first = await signedIn()
    const other = await act.register()
    expect((await act.refresh(other, first.refresh_token)).body.error).toBe('invalid_grant')
    expect((await act.revoke(other, first.refresh_token)).status).toBe(200)
    expect(await mcp(first.access_token)).toBe(200)
  })

  it.each(['access_token', 'refresh_token'] as const)(
    'end with the revocation of the %s (RFC 7009 §2.1)',
    async (kind) => {
      const first = await signedIn()
      expect((await act.revoke(client, first[kind])).status).toBe(200)
      expect(await mcp(first.access_token)).toBe(401)
      expect((await act.refresh(client, first.refresh_token)).body.error).toBe('invalid_grant')
      expect((await act.revoke(client, first[kind])).status).toBe(200)
      expect((await act.revoke(client, 'nonsense')).status).toBe(200)
    },
  )

  it.each<[string, () => Promise<unknown>]>([
    [
      'the person leaves',
      () => platform.deps.table.transact([MemberEntity.delete({ workspace_id: place.id, user_id: person.user.id })]),
    ],
    [
      'the person is blocked',
      () => platform.deps.table.transact([UserEntity.update({ id: person.user.id }, { set: { status: 'blocked' } })]),
    ],
    [
      'the workspace is suspended',
      () => platform.deps.table.transact([WorkspaceEntity.update({ id: place.id }, { set: { status: 'suspended' } })]),
    ],
    [
      'the owner turns hosts off',
      () =>
        platform.deps.table.transact([
          WorkspaceEntity.update({ id: place.id }, { set: { hosts: { enabled: false } } }),
        ]),
    ],
  ])('aren’t given once %s', async (_when, change) => {
    const first = await signedIn()
    const consent = await act.consented(client, person.token)
    await change()
    expect((await act.refresh(client, first.refresh_token)).body.error).toBe('invalid_grant')
    expect((await act.redeem(client, consent)).body.error).toBe('invalid_grant')
  })
})
