import { beforeEach, describe, expect, it } from 'vitest'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { actors, type Client, formOf, presentationOf } from '#testkit/oauth.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const BASE = 'https://platform.test'
const INACTIVE = '{"active":false}'
const ACCESS_LIFE = 7_200
const DAY = 86_400

const platform = usingPlatform()
const act = actors(platform)
beforeEach(() => {
  platform.clock.advance(60_000)
})

const introspect = (
  client: Client,
  token: string,
  more: Record<string, string> = {},
  headers = {},
): Promise<Answer> => {
  const form = formOf({ ...presentationOf(client, token), ...more })
  return platform.call('POST', '/oauth/introspect', { ...form, headers: { ...form.headers, ...headers } })
}

/** Expects a 200 whose body contains nothing but `active: false`. */
const expectInactive = async (client: Client, tokens: readonly string[], what?: string): Promise<void> => {
  for (const token of tokens) {
    const answer = await introspect(client, token)
    expect([answer.status, answer.text], what).toEqual([200, INACTIVE])
  }
}

const pair = ({ access_token, refresh_token }: { access_token: string; refresh_token: string }) => [
  access_token,
  refresh_token,
]

describe('introspecting', () => {
  it('describes an access token, and forbids caching', async () => {
    const client = await act.connected({ scopes: ['runs:read', 'workspace:read'] })
    const { access_token, installation_id, workspace_id } = client.tokens
    const answer = await introspect(client, access_token)
    const now = Math.floor(platform.clock.now() / 1_000)
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.body).toEqual({
      active: true,
      scope: 'workspace:read runs:read',
      client_id: client.app.id,
      token_type: 'Bearer',
      exp: now + ACCESS_LIFE,
      iat: now,
      sub: installation_id,
      aud: `${BASE}/api/v1`,
      iss: BASE,
      installation_id,
      workspace_id,
    })
  })

  it('describes a refresh token, as one that the API doesn’t accept', async () => {
    const client = await act.connected({ scopes: ['runs:read'] })
    const { refresh_token, installation_id, workspace_id } = client.tokens
    const now = Math.floor(platform.clock.now() / 1_000)
    expect((await introspect(client, refresh_token)).body).toEqual({
      active: true,
      scope: 'runs:read',
      client_id: client.app.id,
      token_type: 'refresh_token',
      exp: now + 90 * DAY,
      iat: now,
      sub: installation_id,
      aud: `${BASE}/oauth/token`,
      iss: BASE,
      installation_id,
      workspace_id,
    })
  })

  it('ignores a wrong or unknown hint', async () => {
    const client = await act.connected()
    for (const token of pair(client.tokens)) {
      for (const token_type_hint of ['access_token', 'refresh_token', 'id_token', '']) {
        expect((await introspect(client, token, { token_type_hint })).body.active, token_type_hint).toBe(true)
      }
    }
  })

  it('returns the scopes as reduced by a later consent', async () => {
    const client = await act.connected({ scopes: ['runs:read', 'files:read'] })
    const { installation_id: id, workspace_id } = client.tokens
    await platform.deps.table.transact([
      InstallationEntity.update({ workspace_id, id }, { set: { scopes: ['files:read'] } }),
    ])
    for (const token of pair(client.tokens)) expect((await introspect(client, token)).body.scope).toBe('files:read')
  })
})

describe('a token is inactive', () => {
  it('for another client, without further information', async () => {
    const client = await act.connected()
    await expectInactive(await installed(platform.deps), pair(client.tokens))
    expect((await introspect(client, client.tokens.access_token)).body.active).toBe(true)
  })

  it('when it is malformed or unknown', async () => {
    const client = await act.connected()
    const [head, body] = client.tokens.access_token.split('.')
    await expectInactive(client, [
      'nonsense',
      'rft_',
      newSecret('rft_'),
      `${head}.${body}.`,
      `${head}.${body}.${'A'.repeat(43)}`,
      'é'.repeat(1_000),
      client.clientSecret,
      client.consent.code,
    ])
  })

  it('once it has expired, to the second', async () => {
    const client = await act.connected()
    platform.clock.advance((ACCESS_LIFE - 1) * 1_000)
    expect((await introspect(client, client.tokens.access_token)).body.active).toBe(true)
    platform.clock.advance(1_000)
    await expectInactive(client, [client.tokens.access_token])
    expect((await introspect(client, client.tokens.refresh_token)).body.active).toBe(true)
    platform.clock.advance(90 * DAY * 1_000)
    await expectInactive(client, [client.tokens.refresh_token])
  })

  it('once it was rotated, although its access token remains active', async () => {
    const client = await act.connected()
    const next = (await act.refresh(client, client.tokens.refresh_token)).body
    await expectInactive(client, [client.tokens.refresh_token])
    for (const token of [client.tokens.access_token, ...pair(next)]) {
      expect((await introspect(client, token)).body.active).toBe(true)
    }
    expect((await act.refresh(client, next.refresh_token)).status, 'asking is no reuse').toBe(200)
  })

  it('once reuse has revoked its chain', async () => {
    const client = await act.connected()
    const next = (await act.refresh(client, client.tokens.refresh_token)).body
    await act.refresh(client, client.tokens.refresh_token)
    await expectInactive(client, [...pair(client.tokens), ...pair(next)])
  })

  it('when it is an access token from before a rotation of the client’s secret', async () => {
    const { app, tokens } = await act.connected()
    const clientSecret = newSecret('cs_')
    await platform.deps.table.transact([
      AppEntity.update(
        { id: app.id },
        { set: { client_secret_hash: sha256(clientSecret) }, add: { secret_version: 1 } },
      ),
    ])
    await expectInactive({ app, clientSecret }, [tokens.access_token])
    expect((await introspect({ app, clientSecret }, tokens.refresh_token)).body.active).toBe(true)
  })

  it('while its app, installation or workspace is suspended, and once the installation or grant has ended', async () => {
    const client = await act.connected()
    const { installation_id, workspace_id } = client.tokens
    const { table } = platform.deps
    const app = { id: client.app.id }
    const workspace = { id: workspace_id }
    const installation = { workspace_id, id: installation_id }
    const { items } = await table.query(GrantEntity, { installation_id }, { limit: 1 })
    const grant = { installation_id, id: items[0]?.id ?? '' }
    const states = [
      [
        'app',
        AppEntity.update(app, { set: { status: 'suspended' } }),
        AppEntity.update(app, { set: { status: 'approved' } }),
      ],
      [
        'workspace',
        WorkspaceEntity.update(workspace, { set: { status: 'suspended' } }),
        WorkspaceEntity.update(workspace, { set: { status: 'active' } }),
      ],
      [
        'installation',
        InstallationEntity.update(installation, { set: { status: 'suspended' } }),
        InstallationEntity.update(installation, { set: { status: 'active' } }),
      ],
      [
        'removed',
        InstallationEntity.update(installation, { set: { status: 'revoked' } }),
        InstallationEntity.update(installation, { set: { status: 'active' } }),
      ],
      [
        'grant',
        GrantEntity.update(grant, { set: { status: 'revoked' } }),
        GrantEntity.update(grant, { set: { status: 'active' } }),
      ],
    ] as const
    for (const [what, end, restore] of states) {
      await table.transact([end])
      await expectInactive(client, pair(client.tokens), what)
      await table.transact([restore])
      for (const token of pair(client.tokens)) expect((await introspect(client, token)).body.active, what).toBe(true)
    }
  })

  it('when it is a callback, surface, console or admin token', async () => {
    const { deps } = platform
    const client = await installed(deps)
    expect((await introspect(client, client.token)).body.active).toBe(true)
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: client.token, body: { input: {} } })
    const { id: ins, workspace_id: ws } = client.installation
    const app = client.app.id
    const { id: usr, created_at: mem } = client.person.user
    const surface = await issueToken(deps, 'surface', { ins, ws, app, usr, mem, sv: 1 })
    const admin = await issueToken(deps, 'admin', { adm: 'adm', ses: 'ase' })
    await expectInactive(client, [
      await callbackToken(deps, client, run.id),
      surface.token,
      admin.token,
      (await act.signIn()).token,
    ])
  })
})

describe('an introspection request', () => {
  it('must come from an authenticated client', async () => {
    const client = await act.connected()
    const { access_token } = client.tokens
    for (const [name, value] of [
      ['client_secret', 'cs_wrong'],
      ['client_secret', ''],
      ['client_id', ''],
    ] as const) {
      const answer = await introspect(client, access_token, { [name]: value })
      expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_client'])
    }
  })

  it('gets the current state under the same Idempotency-Key once the token has ended', async () => {
    const client = await act.connected()
    const ask = () => introspect(client, client.tokens.access_token, {}, { 'idempotency-key': 'asked-again' })
    const first = await ask()
    expect(first.body.active).toBe(true)
    const again = await ask()
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true'])
    platform.clock.advance(ACCESS_LIFE * 1_000)
    const late = await ask()
    expect([late.text, late.headers['idempotency-replayed']]).toEqual([INACTIVE, undefined])
  })

  it('gets the current state under the same Idempotency-Key once the token’s scopes have changed', async () => {
    const client = await act.connected({ scopes: ['runs:write', 'workspace:read'] })
    const { access_token, installation_id, workspace_id } = client.tokens
    const ask = () => introspect(client, access_token, {}, { 'idempotency-key': 'asked-before-a-narrower-consent' })
    expect((await ask()).body.scope).toBe('workspace:read runs:write')
    const at = { workspace_id, id: installation_id }
    await platform.deps.table.transact([InstallationEntity.update(at, { set: { scopes: ['workspace:read'] } })])
    expect((await ask()).body.scope).toBe('workspace:read')
  })
})
