import { beforeEach, describe, expect, it } from 'vitest'
import { LIMITS } from '#shared/kernel/limits.ts'
import { AuditEntity, auditMonth } from '#shared/staff/audit/entity.ts'
import { pageAtOffsetWithCount } from '#shared/table/lists.ts'
import {
  confirmEmail,
  invited,
  newApp,
  newDeveloper,
  newTeammate,
  publish,
  signedInByEmail,
} from '#testkit/developers.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(3_600_000))

const join = (token: string, name = 'Bo Example') =>
  platform.call('POST', '/api/v1/dev/members/join', { body: { token, name } })

describe('POST /api/v1/dev/members', () => {
  it('invites by e-mail, and the person who accepts signs in with their own address and role', async () => {
    const owner = await newDeveloper(platform)
    const { id, email, code } = await invited(platform, owner, 'developer')
    const invitation = platform.mails.at(-1)
    expect(invitation?.to).toBe(email)
    expect(invitation?.text).toContain(`/developers#/join/${code}`)
    expect(invitation?.text).toContain('“Ada Example” invites you')
    const open = (await owner.call('GET', '/api/v1/dev/members')).body.items
    expect(open).toMatchObject([
      { name: 'Ada Example', role: 'owner', status: 'active' },
      { id, email, name: null, role: 'developer', status: 'invited', joined_at: null },
    ])
    const joined = await join(code)
    expect([joined.status, joined.headers['cache-control'], joined.body.keys_ended]).toEqual([201, 'no-store', false])
    const again = await signedInByEmail(platform, email)
    const { body: me } = await again.call('GET', '/api/v1/dev/me')
    expect([me.id, me.role, me.member]).toEqual([owner.id, 'developer', { id, email, name: 'Bo Example' }])
  })

  it('sends another link to the same address, which replaces the first and its role', async () => {
    const owner = await newDeveloper(platform)
    const first = await invited(platform, owner, 'viewer')
    const second = await invited(platform, owner, 'owner', first.email)
    expect(second.id).toBe(first.id)
    expect((await join(first.code)).body.error.code).toBe('forbidden')
    expect((await join(second.code)).status).toBe(201)
    expect((await owner.call('GET', '/api/v1/dev/members')).body.items.at(-1).role).toBe('owner')
    expect((await join(second.code)).body.error.code).toBe('forbidden')
  })

  it('expires after 7 days, and is withdrawn by removing the invitation', async () => {
    const owner = await newDeveloper(platform)
    const late = await invited(platform, owner, 'viewer')
    platform.clock.advance(LIMITS.invitationLife)
    expect((await join(late.code)).body.error.code).toBe('forbidden')
    const withdrawn = await invited(platform, owner, 'viewer')
    expect((await owner.call('DELETE', `/api/v1/dev/members/${withdrawn.id}`)).status).toBe(204)
    expect((await join(withdrawn.code)).body.error.code).toBe('forbidden')
  })

  it('needs a confirmed address of the account, and takes no address that has an account', async () => {
    const [owner, other] = [await newDeveloper(platform), await newDeveloper(platform)]
    const body = { email: 'bo@example.com', role: 'viewer' }
    expect((await owner.call('POST', '/api/v1/dev/members', body)).body.error.code).toBe('email_not_verified')
    await confirmEmail(platform, owner)
    const { email } = (await other.call('GET', '/api/v1/dev/me')).body
    const taken = await owner.call('POST', '/api/v1/dev/members', { email, role: 'viewer' })
    expect([taken.status, taken.body.error.code]).toEqual([409, 'conflict'])
    const { email: own } = (await owner.call('GET', '/api/v1/dev/me')).body
    expect((await owner.call('POST', '/api/v1/dev/members', { email: own, role: 'viewer' })).status).toBe(409)
  })

  it('joins one account only, if two invited the same address', async () => {
    const [one, other] = [await newDeveloper(platform), await newDeveloper(platform)]
    const first = await invited(platform, one, 'viewer')
    const second = await invited(platform, other, 'viewer', first.email)
    const answers = await Promise.all([join(first.code), join(second.code)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  it('has room for 10 teammates, invitations included', async () => {
    const owner = await newDeveloper(platform)
    for (let n = 1; n < LIMITS.membersPerDeveloper; n++) {
      platform.clock.advance(3_600_000)
      await invited(platform, owner, 'viewer')
    }
    platform.clock.advance(3_600_000)
    const { status, body } = await owner.call('POST', '/api/v1/dev/members', { email: 'x@example.com', role: 'viewer' })
    expect([status, body.error.code]).toEqual([409, 'conflict'])
  })
})

describe('PATCH and DELETE /api/v1/dev/members/{id}', () => {
  it('change the rights of open sessions with their next request', async () => {
    const owner = await newDeveloper(platform)
    const bo = await newTeammate(platform, owner, 'viewer')
    const create = () =>
      bo.call('POST', '/api/v1/dev/apps', { slug: `bo-${bo.id.slice(-8)}`, type: 'agent', name: 'Bo’s' })
    expect((await create()).body.error).toMatchObject({
      code: 'forbidden',
      details: { required_role: 'developer', role: 'viewer' },
    })
    const { body } = await owner.call('PATCH', `/api/v1/dev/members/${bo.id}`, { role: 'developer' })
    expect(body.role).toBe('developer')
    expect((await create()).status).toBe(201)
    await owner.call('PATCH', `/api/v1/dev/members/${bo.id}`, { role: 'viewer' })
    expect((await create()).body.error.code).toBe('forbidden')
  })

  it('keep an owner: the last one can’t be removed or get another role, also if two try at once', async () => {
    const owner = await newDeveloper(platform)
    const bo = await newTeammate(platform, owner, 'owner')
    const [ada] = (await owner.call('GET', '/api/v1/dev/members')).body.items
    const demote = (id: string) => owner.call('PATCH', `/api/v1/dev/members/${id}`, { role: 'viewer' })
    const both = await Promise.all([demote(ada.id), demote(bo.id)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const last = (await owner.call('GET', '/api/v1/dev/members')).body.items.find(
      ({ role }: { role: string }) => role === 'owner',
    )
    expect((await owner.call('DELETE', `/api/v1/dev/members/${last.id}`)).body.error.code).toBe('conflict')
    // Somebody who was only invited is no owner yet.
    await invited(platform, owner, 'owner')
    expect((await demote(last.id)).body.error.code).toBe('conflict')
  })

  it('can remove the person who registered, and the account’s address becomes that of another owner', async () => {
    const owner = await newDeveloper(platform)
    const bo = await newTeammate(platform, owner, 'owner')
    const { email } = (await owner.call('GET', '/api/v1/dev/me')).body
    const [ada] = (await owner.call('GET', '/api/v1/dev/members')).body.items
    expect((await bo.call('DELETE', `/api/v1/dev/members/${ada.id}`)).status).toBe(204)
    const { body } = await bo.call('GET', '/api/v1/dev/me')
    expect([body.email, body.email_verified]).toEqual([bo.email, true])
    const found = await platform.call('GET', `/admin/developers?q=${encodeURIComponent(bo.email)}`, {
      headers: { 'x-admin-key': 'local-admin-key' },
    })
    expect(found.body.items.map(({ id }: { id: string }) => id)).toEqual([owner.id])
    const mails = platform.mails.length
    await platform.call('POST', '/api/v1/dev/recover', { body: { email } })
    expect(platform.mails.length).toBe(mails)
    // The address is free again.
    const again = await platform.call('POST', '/api/v1/dev/register', { body: { email, name: 'Ada' } })
    expect(again.status).toBe(201)
  })

  it('let everybody leave, and only owners remove others', async () => {
    const owner = await newDeveloper(platform)
    const [bo, cy] = [await newTeammate(platform, owner, 'developer'), await newTeammate(platform, owner, 'viewer')]
    expect((await bo.call('DELETE', `/api/v1/dev/members/${cy.id}`)).body.error.code).toBe('forbidden')
    expect((await cy.call('DELETE', `/api/v1/dev/members/${cy.id}`)).status).toBe(204)
    expect((await cy.call('GET', '/api/v1/dev/me')).status).toBe(401)
  })

  it('are in the audit, with the teammate who made each change', async () => {
    const owner = await newDeveloper(platform)
    const bo = await newTeammate(platform, owner, 'owner')
    const since = platform.clock.now()
    const cy = await newTeammate(platform, bo, 'viewer')
    await bo.call('PATCH', `/api/v1/dev/members/${cy.id}`, { role: 'developer' })
    const app = await newApp({ ...owner, call: bo.call })
    await bo.call('DELETE', `/api/v1/dev/members/${cy.id}`)
    await platform.drain()
    const source = { directory: 'audit', day: auditMonth(since) }
    const { items } = await pageAtOffsetWithCount(platform.deps.table, AuditEntity, [source], {
      offset: 0,
      limit: 100,
      ahead: 0,
    })
    const own = items.filter(({ actor }) => actor.id === owner.id)
    const made = (action: string, id: string) => own.find((one) => one.action === action && one.target.id === id)
    expect(made('developer.member_invited', cy.id)?.details).toEqual({ member_id: bo.id, role: 'viewer' })
    expect(made('developer.member_joined', cy.id)?.details).toEqual({ role: 'viewer' })
    expect(made('developer.member_role_changed', cy.id)?.details).toEqual({
      member_id: bo.id,
      before: { role: 'viewer' },
      after: { role: 'developer' },
    })
    expect(made('developer.member_removed', cy.id)?.details).toEqual({ member_id: bo.id, role: 'developer' })
    expect(made('app.created', app.id)?.details).toMatchObject({ member_id: bo.id })
  })
})

describe('a teammate', () => {
  it('without an owner’s rights can’t recover the account, and an owner can, with their own address', async () => {
    const owner = await newDeveloper(platform)
    const [bo, cy] = [await newTeammate(platform, owner, 'developer'), await newTeammate(platform, owner, 'owner')]
    const recover = (email: string) => platform.call('POST', '/api/v1/dev/recover', { body: { email } })
    const before = platform.mails.length
    expect((await recover(bo.email)).body).toEqual({ accepted: true })
    expect(platform.mails.length).toBe(before)
    await recover(cy.email)
    const token = /dvt_[\w-]+/.exec(platform.mails.at(-1)?.text ?? '')?.[0]
    const { body } = await platform.call('POST', '/api/v1/dev/recover/confirm', { body: { token } })
    expect(body.developer.id).toBe(owner.id)
    expect((await owner.call('GET', '/api/v1/dev/me')).status).toBe(401)
    expect((await bo.call('GET', '/api/v1/dev/me')).status).toBe(401)
    expect((await signedInByEmail(platform, bo.email)).id).toBe(bo.id)
  })

  it('has 10 sessions of their own, which end none of another teammate’s', async () => {
    const owner = await newDeveloper(platform)
    const bo = await newTeammate(platform, owner, 'developer')
    const start = () => platform.call('POST', '/api/v1/dev/session', { body: { api_key: owner.key } })
    for (let n = 0; n <= LIMITS.sessionsPerDeveloper; n++) expect((await start()).status).toBe(201)
    expect((await bo.call('GET', '/api/v1/dev/me')).status).toBe(200)
  })

  it('who only reads gets a sandbox token that only reads, without a refresh token', async () => {
    const owner = await newDeveloper(platform)
    const app = await newApp(owner, { requested_scopes: ['runs:write', 'tasks:read', 'webhooks:manage'] })
    await publish(owner, app)
    const cy = await newTeammate(platform, owner, 'viewer')
    const { body } = await cy.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
    expect([body.scope, body.refresh_token]).toEqual(['runs:read tasks:read', null])
    const token = body.access_token
    expect((await platform.call('GET', '/api/v1/runs', { token })).status).toBe(200)
    const started = await platform.call('POST', '/api/v1/runs', { token, body: { input: {} } })
    expect(started.body.error.code).toBe('insufficient_scope')
  })
})
