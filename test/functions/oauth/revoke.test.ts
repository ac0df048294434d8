import { beforeEach, describe, expect, it } from 'vitest'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { actors, type Client, holdUntil, pkce } from '#testkit/oauth.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const platform = usingPlatform()
const act = actors(platform)
beforeEach(() => {
  platform.clock.advance(60_000)
  platform.outbox.length = 0
})

const post = (path: string, body: string, headers: Record<string, string> = FORM): Promise<Answer> =>
  platform.call('POST', path, { headers, body })

const parameters = ({ app, clientSecret }: Client, more: Record<string, string> = {}): string =>
  new URLSearchParams({ client_id: app.id, client_secret: clientSecret, ...more }).toString()

/** Revokes a token and expects the response that every valid revocation gets. */
const revoke = async (client: Client, token: string, more: Record<string, string> = {}): Promise<void> => {
  const answer = await post('/oauth/revoke', parameters(client, { token, ...more }))
  expect([answer.status, answer.text]).toEqual([200, '{}'])
}

/** Returns the status of a simple call with each access token. */
const statuses = (...tokens: { access_token: string }[]): Promise<number[]> =>
  Promise.all(tokens.map(({ access_token }) => act.works(access_token)))

const notices = () => platform.outbox.filter(({ type }) => type === 'notification.created')

const revocations = async (workspaceId: string) => {
  const { items } = await platform.deps.table.query(AuditEntity, { scope: workspaceId }, { limit: 50 })
  return items.filter(({ action }) => action === 'grant.revoked')
}

describe('revoking', () => {
  it.each(['refresh_token', 'access_token'] as const)(
    'a %s ends the whole chain, and audits it, once',
    async (kind) => {
      const client = await act.connected()
      const next = (await act.refresh(client, client.tokens.refresh_token)).body
      expect(await statuses(client.tokens, next)).toEqual([200, 200])
      await revoke(client, next[kind])
      expect(await statuses(client.tokens, next)).toEqual([401, 401])
      const refreshed = await act.refresh(client, next.refresh_token)
      expect([refreshed.status, refreshed.body.error.code]).toEqual([400, 'invalid_grant'])
      await revoke(client, next.refresh_token)
      await revoke(client, next.access_token)
      expect(notices(), 'no notification is sent').toEqual([])
      const [entry, ...rest] = await revocations(next.workspace_id)
      expect(rest).toEqual([])
      expect(entry).toMatchObject({
        actor: { type: 'app', id: client.app.id },
        target: { type: 'grant', id: expect.stringMatching(/^grt_/) },
        source_ip: '203.0.113.7',
        details: { reason: 'client_request', installation_id: next.installation_id },
      })
    },
  )

  it('ends the chain of a rotated refresh token, without treating it as reuse', async () => {
    const client = await act.connected()
    const next = (await act.refresh(client, client.tokens.refresh_token)).body
    await revoke(client, client.tokens.refresh_token)
    expect(await statuses(client.tokens, next)).toEqual([401, 401])
    expect(notices()).toEqual([])
    expect((await revocations(next.workspace_id)).map(({ details }) => details.reason)).toEqual(['client_request'])
  })

  it('leaves other grants of the same installation alone', async () => {
    const client = await act.connected()
    const { verifier, challenge } = pkce()
    const tg = await act.link(client.app, { code_challenge: challenge })
    const { body } = await act.decide(client.consent.person.token, tg)
    const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
    const other = (await act.redeem(client, { code, verifier })).body
    expect(other.installation_id).toBe(client.tokens.installation_id)
    await revoke(client, client.tokens.refresh_token)
    expect(await statuses(client.tokens, other)).toEqual([401, 200])
  })

  it('goes by the token, whatever the hint', async () => {
    for (const token_type_hint of ['access_token', 'refresh_token', 'id_token', '']) {
      for (const kind of ['access_token', 'refresh_token'] as const) {
        const client = await act.connected()
        await revoke(client, client.tokens[kind], { token_type_hint })
        expect(await statuses(client.tokens), `${kind} as ${token_type_hint}`).toEqual([401])
      }
    }
  })

  it('has no effect on another client’s token', async () => {
    const client = await act.connected()
    const other = await installed(platform.deps)
    await revoke(other, client.tokens.refresh_token)
    await revoke(other, client.tokens.access_token)
    expect(await statuses(client.tokens)).toEqual([200])
    expect((await act.refresh(client, client.tokens.refresh_token)).status).toBe(200)
    expect(await revocations(client.tokens.workspace_id)).toEqual([])
  })

  it('has no effect on an unknown or expired token, or one of another type', async () => {
    const client = await act.connected()
    const run = await platform.call('POST', '/api/v1/runs', { token: client.token, body: { input: {} } })
    const callback = await callbackToken(platform.deps, client, run.body.id)
    for (const token of ['nonsense', newSecret('rft_'), 'a.b.c', callback, client.consent.code]) {
      await revoke(client, token)
    }
    expect(await act.works(client.token)).toBe(200)
    expect(await act.works(callback)).toBe(200)
    platform.clock.advance(7_200_000)
    await revoke(client, client.tokens.access_token)
    const next = await act.refresh(client, client.tokens.refresh_token)
    expect(next.status).toBe(200)
    platform.clock.advance(90 * 86_400_000)
    await revoke(client, next.body.refresh_token)
    expect(await revocations(client.tokens.workspace_id)).toEqual([])
  })

  it('works for a suspended app, and for tokens from before its secret was rotated', async () => {
    const { app, tokens } = await act.connected()
    const clientSecret = newSecret('cs_')
    await platform.deps.table.transact([
      AppEntity.update(
        { id: app.id },
        { set: { status: 'suspended', client_secret_hash: sha256(clientSecret) }, add: { secret_version: 1 } },
      ),
    ])
    await revoke({ app, clientSecret }, tokens.access_token)
    expect(await revocations(tokens.workspace_id)).toHaveLength(1)
  })

  it('happens once under 20 concurrent requests', async () => {
    const client = await act.connected()
    const release = holdUntil(platform, 'grant', 20)
    await Promise.all(Array.from({ length: 20 }, () => revoke(client, client.tokens.refresh_token))).finally(release)
    expect(await revocations(client.tokens.workspace_id)).toHaveLength(1)
    const { installation_id } = client.tokens
    const grants = await platform.deps.table.query(GrantEntity, { installation_id }, { limit: 10 })
    expect(grants.items.map(({ status, revoked_reason }) => [status, revoked_reason])).toEqual([
      ['revoked', 'client_request'],
    ])
  })

  it('wins over a refresh that has read the token as valid', async () => {
    const client = await act.connected()
    const { table } = platform.deps
    const transact = table.transact.bind(table)
    const revoked = Promise.withResolvers<void>()
    table.transact = async (writes) => {
      if (writes.some(({ entity }) => entity.name === 'refresh-token')) await revoked.promise
      return transact(writes)
    }
    try {
      const refreshing = act.refresh(client, client.tokens.refresh_token)
      await revoke(client, client.tokens.access_token)
      revoked.resolve()
      const answer = await refreshing
      expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_grant'])
    } finally {
      table.transact = transact
    }
  })
})

describe.each(['/oauth/revoke', '/oauth/introspect'])('a request to %s', (path) => {
  const refused = (answer: Answer, status: number, code: string, what?: string): void => {
    expect([answer.status, answer.body.error?.code], what).toEqual([status, code])
    expect(answer.headers['www-authenticate'], what).toContain(`error="${code}"`)
    expect(answer.headers['cache-control'], what).toBe('no-store')
  }

  it('is invalid_request without a token', async () => {
    const client = await installed(platform.deps)
    refused(await post(path, parameters(client)), 400, 'invalid_request')
    refused(await post(path, parameters(client, { token: '' })), 400, 'invalid_request')
  })

  it('is invalid_client from an unauthenticated client, before any other error', async () => {
    const client = await act.connected()
    const token = client.tokens.access_token
    refused(await post(path, ''), 401, 'invalid_client')
    refused(await post(path, `token=${token}`), 401, 'invalid_client')
    refused(await post(path, parameters({ ...client, clientSecret: 'cs_wrong' }, { token })), 401, 'invalid_client')
    const basic = Buffer.from(`${client.app.id}:${client.clientSecret}`).toString('base64')
    refused(await post(path, `token=${token}`, { ...FORM, authorization: `Basic ${basic}` }), 401, 'invalid_client')
    expect(await statuses(client.tokens)).toEqual([200])
  })

  it('is invalid_request with a repeated parameter', async () => {
    const client = await act.connected()
    const body = parameters(client, { token: client.tokens.access_token })
    for (const again of ['token=x', 'client_id=x', 'token_type_hint=a&token_type_hint=b', 'other=1&other=1']) {
      refused(await post(path, `${body}&${again}`), 400, 'invalid_request', again)
    }
    expect(await statuses(client.tokens)).toEqual([200])
  })

  it('is unsupported_media_type with another content type', async () => {
    const client = await act.connected()
    const body = parameters(client, { token: client.tokens.access_token })
    const json = JSON.stringify(Object.fromEntries(new URLSearchParams(body)))
    refused(await post(path, json, { 'content-type': 'application/json' }), 415, 'unsupported_media_type')
    refused(await post(path, body, { 'content-type': 'text/plain' }), 415, 'unsupported_media_type')
    expect(await statuses(client.tokens)).toEqual([200])
  })

  it('is refused with parameters in the URL, without effect', async () => {
    const client = await act.connected()
    const { access_token: token } = client.tokens
    const query = parameters(client, { token })
    refused(await post(`${path}?${query}`, ''), 401, 'invalid_client')
    for (const misplaced of [`token=${token}`, 'client_secret=x', 'token_type_hint=access_token']) {
      const answer = await post(`${path}?${misplaced}`, query)
      refused(answer, 400, 'invalid_request', misplaced)
      expect(answer.body.error.message).toContain(misplaced.split('=')[0])
      expect(answer.text).not.toContain(token)
    }
    expect(await statuses(client.tokens)).toEqual([200])
  })

  it('may contain unknown parameters', async () => {
    const client = await installed(platform.deps)
    const answer = await post(`${path}?trace=1`, parameters(client, { token: 'nonsense', resource: 'x' }))
    expect(answer.status).toBe(200)
  })
})

it.each(['/oauth/metadata', '/.well-known/oauth-authorization-server'])('%s lists both endpoints', async (path) => {
  const { body } = await platform.call('GET', path)
  expect(body).toMatchObject({
    revocation_endpoint: 'https://platform.test/oauth/revoke',
    revocation_endpoint_auth_methods_supported: ['client_secret_post'],
    introspection_endpoint: 'https://platform.test/oauth/introspect',
    introspection_endpoint_auth_methods_supported: ['client_secret_post'],
  })
})
