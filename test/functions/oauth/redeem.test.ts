import { beforeEach, describe, expect, it } from 'vitest'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { installed } from '#testkit/fixtures.ts'
import { actors, formOf, holdUntil, pkce, REDIRECT, redemptionOf } from '#testkit/oauth.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const act = actors(platform)
beforeEach(() => {
  platform.clock.advance(60_000)
  platform.outbox.length = 0
})

const consentedClient = async (options: Parameters<typeof installed>[1] = {}) => {
  const client = await installed(platform.deps, options)
  return { client, consent: await act.consented(client.app) }
}

describe('redeeming a code', () => {
  it('returns the token response once, and forbids caching', async () => {
    const { client, consent } = await consentedClient({ scopes: ['runs:read', 'workspace:read'] })
    const answer = await act.redeem(client, consent)
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^eyJ/),
      token_type: 'Bearer',
      expires_in: 7200,
      refresh_token: expect.stringMatching(/^rft_[0-9a-z]{26}_[\w-]{43}$/),
      scope: 'workspace:read runs:read',
      installation_id: expect.stringMatching(/^ins_/),
      workspace_id: consent.person.workspace.id,
    })
    const me = await platform.call('GET', '/api/v1/me', { token: answer.body.access_token })
    expect(me.body).toMatchObject({
      installation: { id: answer.body.installation_id },
      workspace: { id: answer.body.workspace_id },
      token: { type: 'access' },
    })
  })

  it('accepts a form', async () => {
    const { client, consent } = await consentedClient()
    const form = formOf({ ...redemptionOf(client, consent), resource: 'https://platform.test' })
    const answer = await platform.call('POST', '/oauth/token', form)
    expect(answer.status, answer.text).toBe(200)
  })

  it('requires a redirect_uri from an app with several addresses, but not from an app with one', async () => {
    const { client, consent } = await consentedClient()
    const redirect_uris = [REDIRECT, 'https://client.example/other']
    await platform.deps.table.transact([AppEntity.update({ id: client.app.id }, { set: { redirect_uris } })])
    const several = await act.redeem(client, consent, { redirect_uri: undefined })
    expect([several.status, several.body.error.code]).toEqual([400, 'invalid_request'])
    await platform.deps.table.transact([
      AppEntity.update({ id: client.app.id }, { set: { redirect_uris: [REDIRECT] } }),
    ])
    expect((await act.redeem(client, consent, { redirect_uri: undefined })).status).toBe(200)
  })

  it('reports that the code is still valid only while it is', async () => {
    const { client, consent } = await consentedClient()
    const elsewhere = () => act.redeem(client, consent, { redirect_uri: `${REDIRECT}/` })
    expect((await elsewhere()).body.error.fix).toContain('still valid')
    platform.clock.advance(6 * 60_000)
    const late = await elsewhere()
    expect(late.body.error.code).toBe('invalid_grant')
    expect(late.body.error.fix).toContain('Start the authorization again')
  })

  it('names the expected and the received redirect_uri', async () => {
    const { client, consent } = await consentedClient()
    const answer = await act.redeem(client, consent, { redirect_uri: `${REDIRECT}/` })
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_grant'])
    expect(answer.body.error.details).toEqual({
      reason: 'redirect_uri_mismatch',
      expected: REDIRECT,
      received: `${REDIRECT}/`,
    })
    expect((await act.redeem(client, consent)).status, 'the code is still valid').toBe(200)
  })

  it('has the reason of the refusal in details.reason, but nothing about another client’s code', async () => {
    const { client, consent } = await consentedClient()
    const { client: other } = await consentedClient()
    const reason = async (answer: ReturnType<typeof act.redeem>) => (await answer).body.error.details.reason
    expect(await reason(act.redeem(client, { ...consent, code: 'code_unknown' }))).toBe('unknown')
    expect(await reason(act.redeem(other, consent))).toBe('unknown')
    expect(await reason(act.redeem(client, consent, { code_verifier: pkce().verifier }))).toBe('code_verifier_mismatch')
    expect(await reason(act.redeem(client, consent, { code_verifier: 'short' }))).toBe('code_verifier_invalid')
    const { body } = await act.redeem(client, consent)
    expect(await reason(act.redeem(client, consent))).toBe('already_used')
    expect(await reason(act.refresh(client, body.refresh_token))).toBe('revoked')
    const late = await consentedClient()
    platform.clock.advance(300_000)
    expect(await reason(act.redeem(late.client, late.consent))).toBe('expired')
  })

  it('is refused after 5 minutes', async () => {
    const { client, consent } = await consentedClient()
    platform.clock.advance(300_000)
    const answer = await act.redeem(client, consent)
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_grant'])
  })

  it('checks the client, then grant_type, then missing parameters, then the code', async () => {
    const { client, consent } = await consentedClient()
    const { app, clientSecret } = client
    const own = { client_id: app.id, client_secret: clientSecret }
    const full = { ...own, grant_type: 'authorization_code', code: consent.code, code_verifier: consent.verifier }
    const cases: [what: string, body: unknown, status: number, code: string][] = [
      ['nothing', {}, 401, 'invalid_client'],
      ['no secret', { ...full, client_secret: undefined }, 401, 'invalid_client'],
      ['an empty secret', { ...full, client_secret: '' }, 401, 'invalid_client'],
      ['a wrong secret and no grant_type', { ...own, client_secret: 'cs_wrong' }, 401, 'invalid_client'],
      ['another client’s id', { ...full, client_id: 'app_01kae5m1v8w6c3x9q2r7t4y0zn' }, 401, 'invalid_client'],
      ['a client_id that is not a string', { ...full, client_id: { $ne: null } }, 401, 'invalid_client'],
      ['no grant_type and no code', own, 400, 'invalid_request'],
      ['grant_type password', { ...full, grant_type: 'password' }, 400, 'unsupported_grant_type'],
      ['client_credentials', { ...own, grant_type: 'client_credentials' }, 400, 'unsupported_grant_type'],
      ['no code', { ...full, code: '' }, 400, 'invalid_request'],
      ['a code that is not a string', { ...full, code: 42 }, 400, 'invalid_request'],
      ['no code_verifier', { ...full, code_verifier: undefined }, 400, 'invalid_request'],
      ['an unknown code', { ...full, code: 'code_unknown' }, 400, 'invalid_grant'],
      ['a wrong code_verifier', { ...full, code_verifier: pkce().verifier }, 400, 'invalid_grant'],
      ['the challenge as verifier', { ...full, code_verifier: pkce().challenge }, 400, 'invalid_grant'],
      ['no refresh_token', { ...own, grant_type: 'refresh_token' }, 400, 'invalid_request'],
      [
        'an unknown refresh_token',
        { ...own, grant_type: 'refresh_token', refresh_token: 'rft_x' },
        400,
        'invalid_grant',
      ],
    ]
    for (const [what, body, status, code] of cases) {
      const answer = await platform.call('POST', '/oauth/token.json', { body })
      expect([answer.status, answer.body.error.code], what).toEqual([status, code])
      expect(answer.headers['www-authenticate'], what).toContain(`error="${code}"`)
      expect(answer.headers['cache-control'], what).toBe('no-store')
    }
    expect((await act.redeem(client, consent)).status, 'the code is still valid').toBe(200)
  })

  it('refuses another client’s code without consuming it', async () => {
    const { client, consent } = await consentedClient()
    const other = await installed(platform.deps)
    expect((await act.redeem(other, consent)).body.error.code).toBe('invalid_grant')
    expect((await act.redeem(client, consent)).status).toBe(200)
    expect((await act.redeem(other, consent)).body.error.code).toBe('invalid_grant')
  })

  it('revokes the first one’s tokens when repeated, notifies the customer and audits it, once', async () => {
    const { client, consent } = await consentedClient()
    const tokens = (await act.redeem(client, consent)).body
    expect(await act.works(tokens.access_token)).toBe(200)
    const wrong = await act.redeem(client, { ...consent, verifier: pkce().verifier })
    expect(wrong.body.error.code).toBe('invalid_grant')
    expect(await act.works(tokens.access_token), 'with a wrong verifier nothing changes').toBe(200)
    platform.outbox.length = 0
    for (let i = 0; i < 2; i++) {
      const again = await act.redeem(client, consent)
      expect([again.status, again.body.error.code]).toEqual([400, 'invalid_grant'])
    }
    expect(await act.works(tokens.access_token)).toBe(401)
    expect((await act.refresh(client, tokens.refresh_token)).body.error.code).toBe('invalid_grant')
    expect(platform.outbox.map(({ type, installation_id }) => [type, installation_id])).toEqual([
      ['installation.updated', undefined],
      ['access.withdrawn', undefined],
      ['notification.created', tokens.installation_id],
    ])
    const audit = await platform.deps.table.query(AuditEntity, { scope: tokens.workspace_id }, { limit: 10 })
    expect(audit.items.filter(({ action }) => action === 'grant.revoked').map(({ details }) => details.reason)).toEqual(
      ['code_reuse'],
    )
  })

  it('issues valid tokens to one of 50 concurrent requests', async () => {
    const { client, consent } = await consentedClient()
    const release = holdUntil(platform, 'authorization-code', 50)
    const answers = await Promise.all(Array.from({ length: 50 }, () => act.redeem(client, consent))).finally(release)
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    expect(answers.filter(({ body }) => body.error?.code === 'invalid_grant')).toHaveLength(49)
    expect(await act.works(won[0]?.body.access_token)).toBe(200)
  })

  it('issues tokens to at most one of 50 requests in any order, without a server error', async () => {
    const { client, consent } = await consentedClient()
    const answers = await Promise.all(Array.from({ length: 50 }, () => act.redeem(client, consent)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.error?.code === 'invalid_grant')).toHaveLength(49)
  })

  it('returns the same tokens for the same Idempotency-Key, and revokes nothing', async () => {
    const { client, consent } = await consentedClient()
    const headers = { 'idempotency-key': '3d1b0a52-6d2c-4d0e-9a53-0b6f5f0c9a11' }
    const first = await act.redeem(client, consent, {}, headers)
    const again = await act.redeem(client, consent, {}, headers)
    expect(again.text).toBe(first.text)
    expect(await act.works(first.body.access_token)).toBe(200)
  })

  it('treats a retry with its Idempotency-Key as reuse once its tokens were used', async () => {
    const { client, consent } = await consentedClient()
    const headers = { 'idempotency-key': 'code-lost-and-used' }
    const pair = (await act.redeem(client, consent, {}, headers)).body
    const next = (await act.refresh(client, pair.refresh_token)).body
    const again = await act.redeem(client, consent, {}, headers)
    expect([again.status, again.body.error?.code]).toEqual([400, 'invalid_grant'])
    expect(await act.works(next.access_token)).toBe(401)
  })

  it('doesn’t return a stored response once the grant has ended, whatever else the body contains', async () => {
    const { client, consent } = await consentedClient()
    const other = await act.connected()
    const bystander = { refresh_token: other.tokens.refresh_token }
    const headers = { 'idempotency-key': 'code-lost-and-ended' }
    const first = await act.redeem(client, consent, bystander, headers)
    expect((await act.redeem(client, consent, bystander, headers)).text).toBe(first.text)
    await act.revoke(client, first.body.refresh_token)
    const again = await act.redeem(client, consent, bystander, headers)
    expect([again.status, again.body.error?.code]).toEqual([400, 'invalid_grant'])
  })

  it('is refused while app or installation is suspended, and forever once the installation is removed', async () => {
    const { client, consent } = await consentedClient()
    const { table } = platform.deps
    const setApp = (status: 'suspended' | 'approved') =>
      table.transact([AppEntity.update({ id: client.app.id }, { set: { status } })])
    await setApp('suspended')
    expect((await act.redeem(client, consent)).body.error.code).toBe('app_suspended')
    await setApp('approved')
    const partition = { workspace_id: consent.person.workspace.id }
    const { items } = await table.query(InstallationEntity, partition, { limit: 1 })
    const setInstallation = (status: 'suspended' | 'revoked') =>
      table.transact([InstallationEntity.update({ ...partition, id: items[0]?.id ?? '' }, { set: { status } })])
    await setInstallation('suspended')
    expect((await act.redeem(client, consent)).body.error.code).toBe('installation_suspended')
    await setInstallation('revoked')
    expect((await act.redeem(client, consent)).body.error.code).toBe('invalid_grant')
  })

  it('issues nothing when the grant is revoked between read and write', async () => {
    const { client, consent } = await consentedClient()
    const { table } = platform.deps
    const original = table.transact.bind(table)
    table.transact = async (writes) => {
      const code = writes.find(({ entity }) => entity.name === 'authorization-code')
      const grant = writes.find(({ entity }) => entity.name === 'grant')
      if (code && grant) {
        table.transact = original
        const { pk, sk } = grant.key
        const at = { installation_id: pk.split('#')[1] ?? '', id: sk.split('#')[1] ?? '' }
        await original([GrantEntity.update(at, { set: { status: 'revoked' } })])
      }
      return original(writes)
    }
    const answer = await act.redeem(client, consent)
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_grant'])
  })
})
