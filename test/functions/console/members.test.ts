import { beforeEach, describe, expect, it } from 'vitest'
import { MemberEntity, MembershipEntity, type Role, UserEntity } from '#shared/identity/people/entity.ts'
import { member } from '#testkit/fixtures.ts'
import { holdUntil } from '#testkit/oauth.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { listAudit, newTeam } from './people-support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

type Person = Awaited<ReturnType<typeof member>>

const list = (token: string, query = '') => platform.call('GET', `/console/members${query}`, { token })
const give = ({ token }: Person, { user }: Person, role: Role) =>
  platform.call('PATCH', `/console/members/${user.id}`, { token, body: { role } })
const remove = ({ token }: Person, { user }: Person) =>
  platform.call('DELETE', `/console/members/${user.id}`, { token })
const works = async ({ token }: Person) => (await platform.call('GET', '/console/me', { token })).status

const outcome = ({ status, body }: Answer) => (status < 300 ? status : `${status} ${body.error.code}`)
const roles = async (workspaceId: string) => {
  const { items } = await platform.deps.table.query(MemberEntity, { workspace_id: workspaceId }, { limit: 100 })
  return items.map(({ role }) => role).sort()
}

describe('GET /console/members', () => {
  it('lists current members with their current names for any member, oldest account first', async () => {
    const { people } = await newTeam(platform, 'owner', 'admin', 'member')
    const [owner, admin, plain] = people as [Person, Person, Person]
    await platform.deps.table.transact([UserEntity.update({ id: admin.user.id }, { set: { name: 'Renamed' } })])
    const { status, body } = await list(plain.token)
    expect(status).toBe(200)
    const byId = [owner, admin, plain].map(({ user }) => user.id).sort()
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(byId)
    expect(body.items.find(({ id }: { id: string }) => id === admin.user.id)).toEqual({
      id: admin.user.id,
      contact: null,
      last_active_at: null,
      name: 'Renamed',
      role: 'admin',
      joined_at: expect.stringMatching(/^\d{4}-.*\+00:00$/),
    })
  })

  it('is paginated', async () => {
    const { people } = await newTeam(platform, 'owner', 'member', 'member')
    const first = (await list(people[0]?.token ?? '', '?limit=2')).body
    const second = (await list(people[0]?.token ?? '', `?limit=2&cursor=${first.next_cursor}`)).body
    expect([first.items.length, second.items.length, second.has_more]).toEqual([2, 1, false])
  })
})

describe('PATCH /console/members/{id}', () => {
  it('changes a role at once, and audits the state before and after', async () => {
    const { workspaceId, people } = await newTeam(platform, 'owner', 'member')
    const [owner, plain] = people as [Person, Person]
    const answer = await give(owner, plain, 'admin')
    expect([answer.status, answer.body.role]).toEqual([200, 'admin'])
    expect((await platform.call('GET', '/console/invitations', { token: plain.token })).status).toBe(200)
    expect(await listAudit(platform, workspaceId)).toMatchObject([
      {
        action: 'member.role_changed',
        actor: { type: 'user', id: owner.user.id },
        target: { type: 'user', id: plain.user.id },
        details: { before: { role: 'member' }, after: { role: 'admin' } },
        source_ip: '203.0.113.7',
      },
    ])
  })

  it('changes nothing when the role is the same', async () => {
    const { workspaceId, people } = await newTeam(platform, 'owner', 'member')
    const [owner, plain] = people as [Person, Person]
    expect((await give(owner, plain, 'member')).status).toBe(200)
    expect(await listAudit(platform, workspaceId)).toEqual([])
  })

  it.each<[actor: Role, target: Role, next: Role, outcome: number | string]>([
    ['member', 'member', 'member', '403 admin_required'],
    ['admin', 'member', 'admin', 200],
    ['admin', 'admin', 'member', 200],
    ['admin', 'member', 'owner', '403 admin_required'],
    ['admin', 'owner', 'member', '403 admin_required'],
    ['admin', 'owner', 'owner', '403 admin_required'],
    ['owner', 'admin', 'owner', 200],
    ['owner', 'owner', 'member', 200],
  ])('with the role %s on %s, to %s: %s', async (actor, target, next, expected) => {
    const { people } = await newTeam(platform, actor, target, 'owner')
    const [one, other] = people as [Person, Person]
    const answer = await give(one, other, next)
    expect(outcome(answer)).toBe(expected)
    if (answer.status === 403 && actor === 'admin') expect(answer.body.error.message).toContain('owner')
  })
})

describe('the last owner', () => {
  it('can neither step down nor leave until another one exists', async () => {
    const { people } = await newTeam(platform, 'owner', 'admin')
    const [owner, admin] = people as [Person, Person]
    const refused = await give(owner, owner, 'admin')
    expect(outcome(refused)).toBe('409 conflict')
    expect(refused.body.error.message).toContain('last owner')
    expect(outcome(await remove(owner, owner))).toBe('409 conflict')
    await give(owner, admin, 'owner')
    expect(outcome(await give(owner, owner, 'member'))).toBe(200)
  })

  it('must not be blocked, including concurrently', async () => {
    const { workspaceId, people } = await newTeam(platform, 'owner', 'owner')
    const [owner, other] = people as [Person, Person]
    const set = (status: 'active' | 'blocked') => UserEntity.update({ id: other.user.id }, { set: { status } })
    const { table } = platform.deps
    const { transact } = table
    table.transact = async (writes) => {
      table.transact = transact
      await table.transact([set('blocked')])
      await table.transact(writes)
    }
    expect(outcome(await remove(owner, owner))).toBe('409 conflict')
    expect(outcome(await give(owner, owner, 'member'))).toBe('409 conflict')
    expect(await roles(workspaceId)).toEqual(['owner', 'owner'])
    await table.transact([set('active')])
    expect(outcome(await remove(owner, owner))).toBe(204)
  })

  it('is found among more members than fit on a page', async () => {
    const { workspaceId, people } = await newTeam(platform, 'owner')
    const crowd = Array.from({ length: 120 }, (_, n) =>
      MemberEntity.create({
        workspace_id: workspaceId,
        user_id: `usr_0${String(n).padStart(25, '0')}`,
        name: 'One of many',
        role: n === 0 ? 'owner' : 'member',
        joined_at: 0,
      }),
    )
    for (let i = 0; i < crowd.length; i += 60) await platform.deps.table.transact(crowd.slice(i, i + 60))
    const [owner] = people as [Person]
    const late = await member(platform.deps, workspaceId, 'owner')
    await platform.deps.table.transact([
      MemberEntity.update(
        { workspace_id: workspaceId, user_id: `usr_0${'0'.repeat(25)}` },
        { set: { role: 'member' } },
      ),
    ])
    expect(outcome(await remove(owner, owner))).toBe(204)
    expect(outcome(await remove(late, late))).toBe('409 conflict')
  })

  const atOnce = async (count: number, act: (people: Person[]) => Promise<Answer>[]) => {
    const { workspaceId, people } = await newTeam(platform, ...Array<Role>(count).fill('owner'))
    const release = holdUntil(platform, 'member', count)
    try {
      return { answers: (await Promise.all(act(people))).map(outcome).sort(), left: await roles(workspaceId) }
    } finally {
      release()
    }
  }

  it('remains when two owners demote each other concurrently', async () => {
    const { answers, left } = await atOnce(2, ([a, b]) => [
      give(a as Person, b as Person, 'member'),
      give(b as Person, a as Person, 'member'),
    ])
    expect(left).toEqual(['member', 'owner'])
    expect(answers).toEqual([200, '403 admin_required'])
  })

  it('remains when every owner leaves concurrently', async () => {
    const { answers, left } = await atOnce(3, (people) => people.map((one) => remove(one, one)))
    expect(left).toEqual(['owner'])
    expect(answers).toEqual([204, 204, '409 conflict'])
  })
})

describe('DELETE /console/members/{id}', () => {
  it('ends the person’s sessions in this workspace at the next request, and none elsewhere', async () => {
    const { workspaceId, people } = await newTeam(platform, 'owner', 'member')
    const [owner, plain] = people as [Person, Person]
    const other = await newTeam(platform, 'owner')
    await platform.deps.table.transact([
      MemberEntity.create({
        workspace_id: other.workspaceId,
        user_id: plain.user.id,
        name: plain.user.name,
        role: 'member',
        joined_at: 0,
      }),
      MembershipEntity.create({ user_id: plain.user.id, workspace_id: other.workspaceId }),
    ])
    const there = await platform.call('POST', '/console/session/workspace', {
      token: plain.token,
      body: { workspace_id: other.workspaceId },
    })
    expect((await remove(owner, plain)).status).toBe(204)
    expect(await works(plain)).toBe(401)
    const { body } = await platform.call('GET', '/console/me', { token: there.body.token })
    expect(body.workspaces.map(({ id }: { id: string }) => id)).toEqual([other.workspaceId])
    expect(await roles(workspaceId)).toEqual(['owner'])
    expect(outcome(await remove(owner, plain))).toBe('404 not_found')
    expect(await listAudit(platform, workspaceId)).toMatchObject([
      { action: 'member.removed', target: { id: plain.user.id }, details: { role: 'member', left: false } },
    ])
  })

  it('lets members leave with their own id', async () => {
    const { workspaceId, people } = await newTeam(platform, 'owner', 'admin')
    const admin = people[1] as Person
    expect((await remove(admin, admin)).status).toBe(204)
    expect(await works(admin)).toBe(401)
    expect(await listAudit(platform, workspaceId)).toMatchObject([{ details: { role: 'admin', left: true } }])
  })

  it('lets members without a role leave through a dedicated path', async () => {
    const { workspaceId, people } = await newTeam(platform, 'owner', 'member')
    const [owner, plain] = people as [Person, Person]
    const leave = ({ token }: Person) => platform.call('DELETE', '/console/workspace/membership', { token })
    expect(outcome(await remove(plain, plain))).toBe('403 admin_required')
    expect((await leave(plain)).status).toBe(204)
    expect(await works(plain)).toBe(401)
    expect(await listAudit(platform, workspaceId)).toMatchObject([{ details: { role: 'member', left: true } }])
    expect(outcome(await leave(owner))).toBe('409 conflict')
  })

  it.each<[actor: Role, target: Role, outcome: number | string]>([
    ['member', 'member', '403 admin_required'],
    ['admin', 'admin', 204],
    ['admin', 'owner', '403 admin_required'],
    ['owner', 'owner', 204],
  ])('with the role %s on %s: %s', async (actor, target, expected) => {
    const { people } = await newTeam(platform, actor, target, 'owner')
    expect(outcome(await remove(people[0] as Person, people[1] as Person))).toBe(expected)
  })

  it('removes once under two concurrent requests', async () => {
    const { workspaceId, people } = await newTeam(platform, 'owner', 'owner', 'member')
    const [one, two, plain] = people as [Person, Person, Person]
    const answers = await Promise.all([remove(one, plain), remove(two, plain)])
    expect(answers.map(outcome).sort()).toEqual([204, '404 not_found'])
    expect(await listAudit(platform, workspaceId)).toHaveLength(1)
  })
})
