import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { GrantEntity, InstallationEntity } from '#shared/entities/installations.ts'
import { MemberEntity, type Role } from '#shared/entities/people.ts'
import { newApp, newDeveloper, publish } from '#test/functions/developer/support.ts'
import { actors, pkce } from '#test/functions/oauth/support.ts'
import { audited } from '#test/functions/people/support.ts'
import { installed, member } from '#test/support/fixtures.ts'
import { usingPlatform } from '#test/support/using-platform.ts'

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

/** A customer's consent, with tokens, and a person of each role beside whoever approved it. */
const granted = async () => {
  const client = await act.connected()
  const { person } = client.consent
  const workspaceId = person.workspace.id
  const [grantId = ''] = await ids(person.token)
  const colleague = (role: Role) => member(platform.deps, workspaceId, role)
  return { client, person, workspaceId, grantId, colleague }
}

describe('GET /console/grants', () => {
  it('shows every member which app may do what, and who approved it', async () => {
    const { client, person, grantId, colleague } = await granted()
    const answer = await list((await colleague('member')).token)
    expect(answer.status).toBe(200)
    const { id, name, slug } = client.app
    expect(answer.body.items).toEqual([
      {
        id: grantId,
        app: { id, name, slug, logo_url: null, verified: false },
        installation_id: client.tokens.installation_id,
        scopes: client.tokens.scope.split(' '),
        approved_by: { id: person.user.id, name: expect.any(String) },
        created_at: expect.any(String),
        last_used_at: expect.any(String),
      },
    ])
    expect(await ids((await act.signIn()).token)).toEqual([])
  })

  it('says when tokens were last issued: never, by the code, by a refresh', async () => {
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

  it('has a second consent beside the first, newest first, each with what it comes to now', async () => {
    const { client, person, grantId } = await granted()
    platform.clock.advance(1_000)
    const tg = await act.link(client.app)
    await act.decide(person.token, tg, { decision: 'approve', scopes: ['runs:read'] })
    const { items } = (await list(person.token)).body
    expect(items).toHaveLength(2)
    expect(items[1].id).toBe(grantId)
    expect(items.map(({ scopes }: { scopes: string[] }) => scopes)).toEqual([['runs:read'], ['runs:read']])
  })

  it('by pages', async () => {
    const { workspaceId, person } = await granted()
    for (let i = 0; i < 2; i++) {
      platform.clock.advance(1_000)
      await installed(platform.deps, { workspaceId })
    }
    const first = (await list(person.token, '?limit=2')).body
    const second = (await list(person.token, `?limit=2&cursor=${first.next_cursor}`)).body
    expect([first.items.length, second.items.length, second.has_more]).toEqual([2, 1, false])
  })

  it('leaves out what has ended, however it ended', async () => {
    const { client, person, workspaceId, grantId } = await granted()
    const other = await installed(platform.deps, { workspaceId })
    expect(await ids(person.token)).toEqual(expect.arrayContaining([grantId, other.grant.id]))
    // A refresh token that came twice.
    await act.refresh(client, client.tokens.refresh_token)
    await act.refresh(client, client.tokens.refresh_token)
    expect(await ids(person.token)).toEqual([other.grant.id])
    await platform.deps.table.transact([InstallationEntity.update(other.installation, { set: { status: 'revoked' } })])
    expect(await ids(person.token)).toEqual([])
  })

  it('does not read over what has ended: it is out of the list itself', async () => {
    const { person, workspaceId, grantId } = await granted()
    await revoke(person.token, grantId)
    const listed = await platform.deps.table.listed(GrantEntity, `WS#${workspaceId}#GRANTS`, { limit: 10 })
    expect(listed.items).toEqual([])
  })

  it('shows a sandbox token’s grant to who is in the sandbox', async () => {
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
  it('ends its access and refresh tokens at the next request, and says who did it in the audit', async () => {
    const { client, person, workspaceId, grantId } = await granted()
    expect(await act.works(client.tokens.access_token)).toBe(200)
    const answer = await revoke(person.token, grantId)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(await act.works(client.tokens.access_token)).toBe(401)
    const refreshed = await act.refresh(client, client.tokens.refresh_token)
    expect([refreshed.status, refreshed.body.error.code]).toEqual([400, 'invalid_grant'])
    expect(await ids(person.token)).toEqual([])
    const entries = (await audited(platform, workspaceId)).filter(({ action }) => action === 'grant.revoked')
    expect(entries).toMatchObject([
      {
        actor: { type: 'user', id: person.user.id },
        target: { type: 'grant', id: grantId },
        source_ip: '203.0.113.7',
        details: { reason: 'customer', installation_id: client.tokens.installation_id },
      },
    ])
  })

  it('ends a code that was not redeemed yet', async () => {
    const client = await installed(platform.deps)
    const consent = await act.consented(client.app)
    const [id = ''] = await ids(consent.person.token)
    await revoke(consent.person.token, id)
    expect((await act.redeem(client, consent)).body.error.code).toBe('invalid_grant')
  })

  it('leaves the installation and its other grants alone', async () => {
    const { client, person, grantId } = await granted()
    const { challenge, verifier } = pkce()
    const tg = await act.link(client.app, { code_challenge: challenge })
    const { body } = await act.decide(person.token, tg)
    const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
    const second = (await act.redeem(client, { code, verifier })).body
    await revoke(person.token, grantId)
    expect([await act.works(client.tokens.access_token), await act.works(second.access_token)]).toEqual([401, 200])
  })

  it('is for who approved it, whatever they are, and for admins', async () => {
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

  it('again is not_found, and so is another workspace’s', async () => {
    const { person, grantId } = await granted()
    const other = await granted()
    expect((await revoke(other.person.token, grantId)).status).toBe(404)
    const both = await Promise.all([revoke(person.token, grantId), revoke(person.token, grantId)])
    expect(both.map(({ status }) => status).sort()).toEqual([204, 404])
    expect((await revoke(person.token, grantId)).status).toBe(404)
  })
})
