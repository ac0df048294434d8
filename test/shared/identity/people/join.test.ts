import { beforeEach, describe, expect, it } from 'vitest'
import { DeveloperEntity } from '#shared/identity/developers/entity.ts'
import {
  FormerMemberEntity,
  InvitationEntity,
  MemberEntity,
  type Role,
  UserEntity,
  WorkspaceEntity,
} from '#shared/identity/people/entity.ts'
import { newInvitationWrites } from '#shared/identity/people/invitations.ts'
import { type InvitationPreview, joinWrites, loadInvitation } from '#shared/identity/people/join.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { listAudit, newTeam, workOf } from '#test/functions/console/people-support.ts'
import { newDeveloper, newTeammate } from '#testkit/developers.ts'
import type { member } from '#testkit/fixtures.ts'
import { holdUntil } from '#testkit/oauth.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

beforeEach(() => platform.clock.advance(60_000))

type Person = Awaited<ReturnType<typeof member>>

let people = 0

const newcomer = () => ({ id: newId('user', platform.clock.now()), name: `Newcomer ${++people}` })

/** Creates an invitation by a new workspace's owner, or by a person with another role there. */
const invited = async (role: Role = 'member', inviterRole: Role = 'owner') => {
  const { workspaceId, people } = await newTeam(platform, inviterRole)
  const inviter = people[0] as Person
  const work = workOf(platform)
  const { link, invitation, writes } = newInvitationWrites(work, { workspaceId, role, createdBy: inviter.user.id })
  await work.commit(writes)
  return { workspaceId, inviter, invitation, nonce: link.slice('join_'.length) }
}

const preview = (nonce: string) => loadInvitation(platform.deps, nonce)

const shown = async (nonce: string): Promise<InvitationPreview> => {
  const found = await preview(nonce)
  if (!found) throw new Error('the invitation is invalid')
  return found
}

const join = async (found: InvitationPreview, user = newcomer()) => {
  const work = workOf(platform)
  const writes = await joinWrites(work, found, user)
  await work.commit(writes)
  return { user, writes }
}

const roleOf = async (workspace_id: string, user_id: string) =>
  (await platform.deps.table.get(MemberEntity, { workspace_id, user_id }))?.role

const change = {
  demote: ({ workspaceId, inviter }: Awaited<ReturnType<typeof invited>>, role: Role) =>
    MemberEntity.update({ workspace_id: workspaceId, user_id: inviter.user.id }, { set: { role } }),
  remove: ({ workspaceId, inviter }: Awaited<ReturnType<typeof invited>>) =>
    MemberEntity.delete({ workspace_id: workspaceId, user_id: inviter.user.id }),
  block: ({ inviter }: Awaited<ReturnType<typeof invited>>) =>
    UserEntity.update({ id: inviter.user.id }, { set: { status: 'blocked' } }),
  suspend: ({ workspaceId }: Awaited<ReturnType<typeof invited>>) =>
    WorkspaceEntity.update({ id: workspaceId }, { set: { status: 'suspended' } }),
}

describe('joining', () => {
  it('creates a member with the invitation’s role, uses the invitation up, and is audited', async () => {
    const { workspaceId, inviter, invitation, nonce } = await invited('admin')
    const found = await shown(nonce)
    expect([found.workspace.id, found.invitation.role]).toEqual([workspaceId, 'admin'])
    const { user } = await join(found)
    expect(await roleOf(workspaceId, user.id)).toBe('admin')
    expect(await preview(nonce)).toBeUndefined()
    expect(await listAudit(platform, workspaceId)).toMatchObject([
      {
        action: 'member.joined',
        actor: { type: 'user', id: user.id },
        target: { type: 'user', id: user.id },
        details: { role: 'admin', invitation_id: invitation.id, invited_by: inviter.user.id },
      },
    ])
  })

  it('a second time removes the record of having left', async () => {
    const { workspaceId, inviter, nonce } = await invited()
    const { people } = await newTeam(platform, 'member')
    const [{ user }] = people as [Person]
    await join(await shown(nonce), user)
    const removed = await platform.call('DELETE', `/console/members/${user.id}`, { token: inviter.token })
    expect(removed.status).toBe(204)
    const trace = () => platform.deps.table.get(FormerMemberEntity, { workspace_id: workspaceId, user_id: user.id })
    expect(await trace()).toMatchObject({ left_at: platform.clock.now() })
    const work = workOf(platform)
    const again = newInvitationWrites(work, { workspaceId, role: 'member', createdBy: inviter.user.id })
    await work.commit(again.writes)
    await join(await shown(again.link.slice('join_'.length)), user)
    expect(await trace()).toBeUndefined()
  })

  it('at the same moment lets exactly one of two people join', async () => {
    const { workspaceId, nonce } = await invited()
    const found = await shown(nonce)
    const release = holdUntil(platform, 'member', 2)
    const results = await Promise.allSettled([join(found), join(found)])
    release()
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'not_found' } })
    const { items } = await platform.deps.table.query(MemberEntity, { workspace_id: workspaceId }, { limit: 10 })
    expect(items).toHaveLength(2)
  })

  it('writes nothing for an existing member, and keeps the invitation for another person', async () => {
    const { inviter, nonce } = await invited()
    expect((await join(await shown(nonce), inviter.user)).writes).toEqual([])
    await join(await shown(nonce))
  })

  it('with an expired invitation is refused, also when it was previewed before', async () => {
    const { nonce } = await invited()
    const found = await shown(nonce)
    platform.clock.advance(7 * 86_400_000)
    await expect(join(found)).rejects.toMatchObject({ code: 'not_found' })
    expect(await preview(nonce)).toBeUndefined()
  })

  it.each<[what: string, write: keyof typeof change, role: Role, to: Role]>([
    ['becomes a member', 'demote', 'member', 'member'],
    ['no longer has the invitation’s role', 'demote', 'owner', 'admin'],
    ['leaves', 'remove', 'member', 'member'],
    ['is blocked', 'block', 'member', 'member'],
  ])('is refused when the inviter %s, even between the preview and the answer', async (_what, write, role, to) => {
    const made = await invited(role)
    const found = await shown(made.nonce)
    await platform.deps.table.transact([write === 'demote' ? change.demote(made, to) : change[write](made)])
    expect(await preview(made.nonce)).toBeUndefined()
    await expect(join(found)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('works while the inviter keeps a sufficient role', async () => {
    const made = await invited('member')
    await platform.deps.table.transact([change.demote(made, 'admin')])
    await join(await shown(made.nonce))
  })

  it('is refused while the workspace is suspended', async () => {
    const made = await invited()
    const found = await shown(made.nonce)
    await platform.deps.table.transact([change.suspend(made)])
    expect(await preview(made.nonce)).toBeUndefined()
    await expect(join(found)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('finds no invitation for an unknown nonce of any form', async () => {
    for (const nonce of ['', 'x', 'ä'.repeat(5_000)]) expect(await preview(nonce)).toBeUndefined()
  })
})

describe('the link into a developer’s sandbox', () => {
  const renew = async (developer: Awaited<ReturnType<typeof newDeveloper>>, headers = {}) =>
    developer.call('POST', '/api/v1/dev/sandbox/invite', undefined, headers)
  const nonceOf = (link: string) => link.slice('join_'.length)

  it('makes an owner, as long as the developer isn’t blocked', async () => {
    const developer = await newDeveloper(platform)
    const answer = await renew(developer)
    expect([answer.status, answer.headers['cache-control'], Object.keys(answer.body)]).toEqual([
      200,
      'no-store',
      ['invite_link'],
    ])
    const found = await shown(nonceOf(answer.body.invite_link))
    expect(found.workspace).toMatchObject({ id: developer.workspaceId, is_sandbox: true })
    const block = (status: 'active' | 'blocked') =>
      platform.deps.table.transact([DeveloperEntity.update({ id: developer.id }, { set: { status } })])
    await block('blocked')
    expect(await preview(nonceOf(answer.body.invite_link))).toBeUndefined()
    await expect(join(found)).rejects.toMatchObject({ code: 'not_found' })
    await block('active')
    const { user } = await join(found)
    expect(await roleOf(developer.workspaceId, user.id)).toBe('owner')
  })

  it('lets nobody in once what gave it has ended, even between the reads of the answer and its writes', async () => {
    const developer = await newDeveloper(platform)
    const { id, api_key } = await succeeded(developer.call('POST', '/api/v1/dev/me/keys', { name: 'ci' }))
    const bo = await newTeammate(platform, developer, 'developer')
    const withKey = { headers: { 'x-developer-key': api_key } }
    const byKey = () => succeeded(platform.call('POST', '/api/v1/dev/sandbox/invite', withKey))
    const byTeammate = () => succeeded(bo.call('POST', '/api/v1/dev/sandbox/invite'))
    /** The link of a guest, who is a member only as long as the key that invited them exists. */
    const byGuest = async () => {
      const { user } = await join(await shown(nonceOf((await byKey()).invite_link)))
      await platform.deps.table.transact([
        UserEntity.create({
          ...user,
          ...stampOf(user.id),
          identity: `test:${user.id}`,
          locale: 'en',
          time_zone: 'UTC',
          status: 'active',
          home_workspace_id: developer.workspaceId,
        }),
      ])
      platform.clock.advance(1_000)
      const work = workOf(platform)
      const given = { workspaceId: developer.workspaceId, role: 'owner', createdBy: user.id } as const
      const { link, writes } = newInvitationWrites(work, given)
      await work.commit(writes)
      return { invite_link: link }
    }
    for (const [invites, end] of [
      [byTeammate, () => developer.call('PATCH', `/api/v1/dev/members/${bo.id}`, { role: 'viewer' })],
      [byGuest, () => developer.call('DELETE', `/api/v1/dev/me/keys/${id}`)],
    ] as const) {
      const nonce = nonceOf((await invites()).invite_link)
      const work = workOf(platform)
      const writes = await joinWrites(work, await shown(nonce), newcomer())
      expect((await end()).status).toBeLessThan(300)
      await expect(work.commit(writes)).rejects.toBeInstanceOf(ConditionFailed)
      expect(await preview(nonce)).toBeUndefined()
    }
  })

  it('invalidates its predecessor when renewed: that of the registration, a renewed one, a used one', async () => {
    const registered = await platform.call('POST', '/api/v1/dev/register', {
      body: { email: `invite-${platform.clock.now()}@example.com`, name: 'Ada' },
    })
    const key = { 'x-developer-key': registered.body.api_key }
    const again = () => platform.call('POST', '/api/v1/dev/sandbox/invite', { headers: key })
    const first = nonceOf(registered.body.sandbox_workspace.invite_link)
    await shown(first)
    const second = nonceOf((await again()).body.invite_link)
    expect(await preview(first)).toBeUndefined()
    await join(await shown(second))
    const third = nonceOf((await again()).body.invite_link)
    expect((await shown(third)).workspace.id).toBe(registered.body.sandbox_workspace.id)
  })

  it('leaves one valid link after 5 simultaneous renewals', async () => {
    const developer = await newDeveloper(platform)
    const answers = await Promise.all(Array.from({ length: 5 }, () => renew(developer)))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    const alive = await Promise.all(answers.map(({ body }) => preview(nonceOf(body.invite_link))))
    expect(alive.filter(Boolean)).toHaveLength(1)
    const { items } = await platform.deps.table.query(
      InvitationEntity,
      { workspace_id: developer.workspaceId },
      { limit: 10 },
    )
    expect(items).toHaveLength(1)
  })
})
