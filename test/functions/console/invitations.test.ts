import { beforeEach, describe, expect, it } from 'vitest'
import { MemberEntity, type Role } from '#shared/identity/people/entity.ts'
import { joinWrites, loadInvitation } from '#shared/identity/people/join.ts'
import { contents } from '#testkit/contents.ts'
import type { member } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { listAudit, newTeam, workOf } from './people-support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

type Person = Awaited<ReturnType<typeof member>>

const invite = ({ token }: Person, body: object = {}, headers = {}) =>
  platform.call('POST', '/console/invitations', { token, body, headers })
const list = async ({ token }: Person) =>
  (await platform.call('GET', '/console/invitations', { token })).body.items as { id: string; role: Role }[]
const revoke = ({ token }: Person, id: string) => platform.call('DELETE', `/console/invitations/${id}`, { token })
const preview = (startParameter: string) => loadInvitation(platform.deps, startParameter.slice('join_'.length))

const owner = async () => {
  const { workspaceId, people } = await newTeam(platform, 'owner')
  return { workspaceId, person: people[0] as Person }
}

describe('POST /console/invitations', () => {
  it('returns a start parameter for the messaging app once, and stores its hash', async () => {
    const { person } = await owner()
    const answer = await invite(person)
    expect([answer.status, answer.headers['cache-control']]).toEqual([201, 'no-store'])
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^inv_/),
      role: 'member',
      start_parameter: expect.stringMatching(/^join_[A-Za-z0-9_-]{43}$/),
      created_by: { id: person.user.id, name: person.user.name },
      created_at: expect.any(String),
      expires_at: expect.any(String),
    })
    expect(Date.parse(answer.body.expires_at) - Date.parse(answer.body.created_at)).toBe(7 * 86_400_000)
    expect(answer.body.start_parameter.length).toBeLessThanOrEqual(64)
    const stored = [...(await contents(platform)).values()].join()
    expect(stored).not.toContain(answer.body.start_parameter.slice(5))
    expect(JSON.stringify(await list(person))).not.toContain(answer.body.start_parameter.slice(5))
  })

  it('audits who invited for which role', async () => {
    const { workspaceId, person } = await owner()
    const { body } = await invite(person, { role: 'admin' })
    expect(await listAudit(platform, workspaceId)).toMatchObject([
      {
        action: 'invitation.created',
        actor: { type: 'user', id: person.user.id },
        target: { type: 'invitation', id: body.id },
        source_ip: '203.0.113.7',
        details: { role: 'admin' },
      },
    ])
  })

  it('accepts an expiry between a minute and 7 days', async () => {
    const { person } = await owner()
    for (const expires_in of [59, 604_801, 90.5, '60']) {
      expect((await invite(person, { expires_in })).body.error.code).toBe('validation_error')
    }
    const { start_parameter } = (await invite(person, { expires_in: 60 })).body
    platform.clock.advance(59_999)
    expect(await preview(start_parameter)).toBeTruthy()
    platform.clock.advance(1)
    expect(await preview(start_parameter)).toBeUndefined()
    expect(await list(person)).toEqual([])
  })

  it.each<[Role, Role, number]>([
    ['member', 'member', 403],
    ['admin', 'admin', 201],
    ['admin', 'owner', 403],
    ['owner', 'owner', 201],
  ])('with the role %s, invites to %s: %i', async (role, to, status) => {
    const { people } = await newTeam(platform, role)
    const answer = await invite(people[0] as Person, { role: to })
    expect(answer.status).toBe(status)
    if (status === 403) expect(answer.body.error.code).toBe('admin_required')
  })

  it('is refused when the role is revoked concurrently', async () => {
    const { workspaceId, people } = await newTeam(platform, 'owner', 'admin')
    const [one, admin] = people as [Person, Person]
    const { id } = (await invite(one)).body
    const giveRole = (role: Role) =>
      MemberEntity.update({ workspace_id: workspaceId, user_id: admin.user.id }, { set: { role } })
    for (const act of [() => invite(admin), () => revoke(admin, id)]) {
      const { table } = platform.deps
      const { transact } = table
      table.transact = async (writes) => {
        table.transact = transact
        await table.transact([giveRole('member')])
        await table.transact(writes)
      }
      const answer = await act()
      expect([answer.status, answer.body?.error.code]).toEqual([403, 'admin_required'])
      await table.transact([giveRole('admin')])
    }
    expect((await list(one)).map((each) => each.id)).toEqual([id])
  })
})

describe('GET /console/invitations', () => {
  it('shows admins of the workspace the valid ones, newest first', async () => {
    const { workspaceId, people } = await newTeam(platform, 'owner', 'admin')
    const [one, admin] = people as [Person, Person]
    const first = (await invite(one)).body.id
    platform.clock.advance(1_000)
    const second = (await invite(admin, { role: 'admin' })).body.id
    expect((await list(one)).map(({ id }) => id)).toEqual([second, first])
    // An admin who loses the role also loses the invitation.
    const at = { workspace_id: workspaceId, user_id: admin.user.id }
    await platform.deps.table.transact([MemberEntity.update(at, { set: { role: 'member' } })])
    expect((await list(one)).map(({ id }) => id)).toEqual([first])
    expect(await list((await owner()).person)).toEqual([])
  })
})

describe('an invitation whose inviter lost the required role', () => {
  const give = ({ token }: Person, { user }: Person, role: Role) =>
    platform.call('PATCH', `/console/members/${user.id}`, { token, body: { role } })

  it('stays invalid when they regain it, unless the role they kept was sufficient', async () => {
    const { people } = await newTeam(platform, 'owner', 'owner')
    const [one, other] = people as [Person, Person]
    const toOwner = (await invite(other, { role: 'owner' })).body
    const toMember = (await invite(other)).body
    const left = async () => (await list(one)).map(({ id }) => id).sort()
    platform.clock.advance(1_000)
    await give(one, other, 'admin')
    expect(await left()).toEqual([toMember.id])
    platform.clock.advance(1_000)
    await give(one, other, 'owner')
    expect(await left()).toEqual([toMember.id])
    expect(await preview(toOwner.start_parameter)).toBeUndefined()
    expect(await preview(toMember.start_parameter)).toBeTruthy()
    await give(one, other, 'member')
    await give(one, other, 'admin')
    expect(await left()).toEqual([])
    platform.clock.advance(1_000)
    const replacement = (await invite(other)).body
    expect(await left()).toEqual([replacement.id])
  })

  it('stays invalid when they rejoin after leaving', async () => {
    const { workspaceId, people } = await newTeam(platform, 'owner', 'admin')
    const [one, admin] = people as [Person, Person]
    const { start_parameter } = (await invite(admin)).body
    const shown = await preview(start_parameter)
    await platform.call('DELETE', `/console/members/${admin.user.id}`, { token: one.token })
    platform.clock.advance(1_000)
    const { id: user_id, name } = admin.user
    const joined_at = platform.clock.now()
    await platform.deps.table.transact([
      MemberEntity.create({ workspace_id: workspaceId, user_id, name, role: 'admin', joined_at }),
    ])
    expect(await list(one)).toEqual([])
    expect(await preview(start_parameter)).toBeUndefined()
    if (!shown) throw new Error('no preview')
    const work = workOf(platform)
    const writes = await joinWrites(work, shown, { id: 'usr_01kae5m1v8w6c3x9q2r7t4y0zn', name: 'Late' })
    await expect(work.commit(writes)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('DELETE /console/invitations/{id}', () => {
  it('invalidates the link, once, and audits it', async () => {
    const { workspaceId, person } = await owner()
    const { id, start_parameter } = (await invite(person)).body
    const shown = await preview(start_parameter)
    // Ids sort by millisecond, and so does the audit.
    platform.clock.advance(1)
    expect((await revoke(person, id)).status).toBe(204)
    expect(await preview(start_parameter)).toBeUndefined()
    expect((await revoke(person, id)).status).toBe(404)
    const actions = (await listAudit(platform, workspaceId)).map(({ action }) => action)
    expect(actions).toEqual(['invitation.created', 'invitation.revoked'])
    // Even for a person who has the invitation open.
    if (!shown) throw new Error('no preview')
    const work = workOf(platform)
    const writes = await joinWrites(work, shown, { id: 'usr_01kae5m1v8w6c3x9q2r7t4y0zn', name: 'Late' })
    await expect(work.commit(writes)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is not_found for an expired invitation', async () => {
    const { person } = await owner()
    const { id } = (await invite(person, { expires_in: 60 })).body
    platform.clock.advance(60_000)
    expect((await revoke(person, id)).status).toBe(404)
  })
})
