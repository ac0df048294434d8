import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { MemberEntity, type Role } from '#shared/identity/people/entity.ts'
import { newApp, newDeveloper, publish } from '#testkit/developers.ts'
import { installed, member } from '#testkit/fixtures.ts'
import { actors, pkce } from '#testkit/oauth.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { listAudit } from './people-support.ts'

const platform = usingPlatform()
let act: ReturnType<typeof actors>
beforeAll(() => {
  act = actors(platform)
})
beforeEach(() => platform.clock.advance(60_000))

const list = (token: string, query = '') => platform.call('GET', `/console/grants${query}`, { token })
const ids = async (token: string): Promise<string[]> =>
  (await list(token)).body.items.map(({ id }: { id: string }) => id)
const revoke = (token: string, id: string) => platform.call('DELETE', `/console/grants/${id}`, { token })

/** Creates a consent with tokens, and a function that adds a colleague of any role. */
const granted = async () => {
  const client = await act.connected()
  const { person } = client.consent
  const workspaceId = person.workspace.id
  const [grantId = ''] = await ids(person.token)
  const colleague = (role: Role) => member(platform.deps, workspaceId, role)
  return { client, person, workspaceId, grantId, colleague }
}

describe('GET /console/grants', () => {
  it('shows every member the scopes of each app and the person who approved them', async () => {
    const { client, person, grantId, colleague } = await granted()
    const answer = await list((await colleague('member')).token)
    expect(answer.status).toBe(200)
    const { id, name, slug } = client.app
    expect(answer.body.items).toEqual([
      {
        id: grantId,
        kind: 'app',
        app: {
          id,
          name,
          slug,
          logo_url: null,
          logo_path: expect.stringMatching(/^\/console\/logos\/avatar-/),
          verified: false,
        },
        installation_id: client.tokens.installation_id,
        scopes: client.tokens.scope.split(' '),
        approved_by: { id: person.user.id, name: expect.any(String) },
        created_at: expect.any(String),
        last_used_at: expect.any(String),
        paused_at: null,
      },
    ])
    expect(await ids((await act.signIn()).token)).toEqual([])
  })

  it('shows when tokens were last issued: never, by the code, by a refresh', async () => {
    const client = await installed(platform.deps)
    const consent = await act.consented(client.app)
    const lastUse = async () => (await list(consent.person.token)).body.items[0].last_used_at
    expect(await lastUse()).toBeNull()
    platform.clock.advance(1_000)
    const { body: tokens } = await act.redeem(client, consent)
    const redeemedAt = platform.clock.now()
    expect(Date.parse(await lastUse())).toBe(redeemedAt)
    platform.clock.advance(1_000)
    await act.refresh(client, tokens.refresh_token)
    expect(Date.parse(await lastUse())).toBe(redeemedAt + 1_000)
  })

  it('lists a second consent next to the first, newest first, each with its own scopes', async () => {
    const { client, person, grantId } = await granted()
    platform.clock.advance(1_000)
    const tg = await act.link(client.app)
    await act.decide(person.token, tg, { decision: 'approve', scopes: ['runs:read'] })
    const { items } = (await list(person.token)).body
    expect(items).toHaveLength(2)
    expect(items[1].id).toBe(grantId)
    expect(items[0].scopes).toEqual(['runs:read'])
    expect(items[1].scopes.length, 'a second consent takes nothing from the first').toBeGreaterThan(1)
  })

  it('is paginated', async () => {
    const { workspaceId, person } = await granted()
    for (let i = 0; i < 2; i++) {
      platform.clock.advance(1_000)
      await installed(platform.deps, { workspaceId })
    }
    const first = (await list(person.token, '?limit=2')).body
    const second = (await list(person.token, `?limit=2&cursor=${first.next_cursor}`)).body
    expect([first.items.length, second.items.length, second.has_more]).toEqual([2, 1, false])
  })

  it('omits grants that have ended for any reason', async () => {
    const { client, person, workspaceId, grantId } = await granted()
    const other = await installed(platform.deps, { workspaceId })
    expect(await ids(person.token)).toEqual(expect.arrayContaining([grantId, other.grant.id]))
    // A refresh token that was reused.
    await act.refresh(client, client.tokens.refresh_token)
    await act.refresh(client, client.tokens.refresh_token)
    expect(await ids(person.token)).toEqual([other.grant.id])
    await platform.deps.table.transact([InstallationEntity.update(other.installation, { set: { status: 'revoked' } })])
    expect(await ids(person.token)).toEqual([])
  })

  it('doesn’t read ended grants, which are no longer in the list itself', async () => {
    const { person, workspaceId, grantId } = await granted()
    await revoke(person.token, grantId)
    const listed = await platform.deps.table.listed(GrantEntity, `WS#${workspaceId}#GRANTS`, { limit: 10 })
    expect(listed.items).toEqual([])
  })

  it('shows a sandbox token’s grant to members of the sandbox', async () => {
    const developer = await newDeveloper(platform)
    const app = await newApp(developer)
    await publish(developer, app)
    const { body } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
    const { token } = await member(platform.deps, developer.workspaceId, 'owner')
    const [grant] = (await list(token)).body.items
    expect(grant).toMatchObject({ installation_id: body.installation_id, approved_by: { id: developer.id } })
    expect(grant.last_used_at).toBe(grant.created_at)
  })
})

describe('DELETE /console/grants/{id}', () => {
  it('ends its access and refresh tokens at the next request, and audits the actor', async () => {
    const { client, person, workspaceId, grantId } = await granted()
    expect(await act.works(client.tokens.access_token)).toBe(200)
    const answer = await revoke(person.token, grantId)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(await act.works(client.tokens.access_token)).toBe(401)
    const refreshed = await act.refresh(client, client.tokens.refresh_token)
    expect([refreshed.status, refreshed.body.error.code]).toEqual([400, 'invalid_grant'])
    expect(await ids(person.token)).toEqual([])
    const entries = (await listAudit(platform, workspaceId)).filter(({ action }) => action === 'grant.revoked')
    expect(entries).toMatchObject([
      {
        actor: { type: 'user', id: person.user.id },
        target: { type: 'grant', id: grantId },
        source_ip: '203.0.113.7',
        details: { reason: 'customer', installation_id: client.tokens.installation_id },
      },
    ])
  })

  it('invalidates a code that wasn’t redeemed yet', async () => {
    const client = await installed(platform.deps)
    const consent = await act.consented(client.app)
    const [id = ''] = await ids(consent.person.token)
    await revoke(consent.person.token, id)
    expect((await act.redeem(client, consent)).body.error.code).toBe('invalid_grant')
  })

  it('keeps the installation and its other grants', async () => {
    const { client, person, grantId } = await granted()
    const { challenge, verifier } = pkce()
    const tg = await act.link(client.app, { code_challenge: challenge })
    const { body } = await act.decide(person.token, tg)
    const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
    const second = (await act.redeem(client, { code, verifier })).body
    await revoke(person.token, grantId)
    expect([await act.works(client.tokens.access_token), await act.works(second.access_token)]).toEqual([401, 200])
  })

  it('is allowed for the person who approved it, in any role, and for admins', async () => {
    const one = await granted()
    const refused = await revoke((await one.colleague('member')).token, one.grantId)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'admin_required'])
    expect((await revoke((await one.colleague('admin')).token, one.grantId)).status).toBe(204)
    const two = await granted()
    await two.colleague('owner')
    await platform.deps.table.transact([
      MemberEntity.update({ workspace_id: two.workspaceId, user_id: two.person.user.id }, { set: { role: 'member' } }),
    ])
    expect((await revoke(two.person.token, two.grantId)).status).toBe(204)
  })

  it('is not_found when repeated', async () => {
    const { person, grantId } = await granted()
    const both = await Promise.all([revoke(person.token, grantId), revoke(person.token, grantId)])
    expect(both.map(({ status }) => status).sort()).toEqual([204, 404])
    expect((await revoke(person.token, grantId)).status).toBe(404)
  })
})

describe('a grant that an admin paused', () => {
  const pause = (token: string, id: string) => platform.call('POST', `/console/grants/${id}/pause`, { token })
  const resume = (token: string, id: string) => platform.call('POST', `/console/grants/${id}/resume`, { token })

  it('has its tokens refused from the next request on, and accepted again once it is resumed', async () => {
    const { client, person, grantId, workspaceId } = await granted()
    const use = () => platform.call('GET', '/api/v1/me', { token: client.tokens.access_token })
    expect((await use()).status).toBe(200)
    const paused = await pause(person.token, grantId)
    expect(paused.body).toMatchObject({ id: grantId, paused_at: expect.any(String) })
    expect((await use()).body.error.code).toBe('installation_suspended')
    const refreshed = await act.refresh(client, client.tokens.refresh_token)
    expect([refreshed.status, refreshed.body.error.code]).toEqual([403, 'installation_suspended'])
    expect((await pause(person.token, grantId)).body.paused_at, 'a repeat changes nothing').toBe(paused.body.paused_at)

    expect((await resume(person.token, grantId)).body.paused_at).toBeNull()
    expect((await use()).status).toBe(200)
    expect((await act.refresh(client, client.tokens.refresh_token)).status, 'the refresh token wasn’t used up').toBe(
      200,
    )
    await platform.drain()
    const actions = (await listAudit(platform, workspaceId)).map(({ action }) => action)
    expect(actions).toEqual(expect.arrayContaining(['grant.paused', 'grant.resumed']))
    expect(actions.filter((action) => action === 'grant.paused')).toHaveLength(1)
  })

  it('can’t be paused or resumed by a member, even the one who approved it', async () => {
    const { grantId, person, colleague } = await granted()
    const { token } = await colleague('member')
    expect((await pause(token, grantId)).body.error.code).toBe('admin_required')
    await pause(person.token, grantId)
    expect((await resume(token, grantId)).body.error.code).toBe('admin_required')
  })

  it('can be revoked, and isn’t found afterwards', async () => {
    const { grantId, person } = await granted()
    await pause(person.token, grantId)
    expect((await revoke(person.token, grantId)).status).toBe(204)
    expect((await resume(person.token, grantId)).status).toBe(404)
  })

  it('doesn’t change other grants of the app', async () => {
    const { client, person, grantId, workspaceId } = await granted()
    const other = await installed(platform.deps, { workspaceId })
    await pause(person.token, grantId)
    expect((await platform.call('GET', '/api/v1/me', { token: other.token })).status).toBe(200)
    expect((await platform.call('GET', '/api/v1/me', { token: client.tokens.access_token })).status).toBe(403)
  })
})
