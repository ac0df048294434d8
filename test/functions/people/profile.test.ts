import { beforeEach, describe, expect, it } from 'vitest'
import type { Work } from '#shared/domain/deps.ts'
import { deleteAccount } from '#shared/domain/people/delete-account.ts'
import { ROUND, removeWhatIsDue } from '#shared/domain/removal/due.ts'
import { totalOf } from '#shared/domain/totals.ts'
import { AppEntity } from '#shared/entities/apps.ts'
import { BotChatEntity } from '#shared/entities/bot.ts'
import {
  type Member,
  MemberEntity,
  MembershipEntity,
  type Session,
  type User,
  UserEntity,
  WorkspaceEntity,
} from '#shared/entities/people.ts'
import { AgentRequestEntity } from '#shared/entities/reviews.ts'
import { type Run, RunEntity, WorkspaceRunEntity } from '#shared/entities/runs.ts'
import { newId } from '#shared/kernel/ids.ts'
import { everything } from '#test/functions/workspace-removal/support.ts'
import { installed, member, workspace } from '#test/support/fixtures.ts'
import type { Answer } from '#test/support/platform.ts'
import { startTelegram } from '#test/support/telegram.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { audited, team, workOf } from './support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const codeOf = ({ status, body }: Answer) => (status < 300 ? status : body.error.code)
const call = (token: string, method: string, path: string, body?: object) =>
  platform.call(method, path, { token, ...(body && { body }) })

type Person = Awaited<ReturnType<typeof member>>

/** After it nothing more of a deleted account comes in. */
const SETTLED = 15 * 60_000

/** What the tests before left to do. */
const othersRemoved = async () => {
  platform.clock.advance(SETTLED)
  await removeWhatIsDue(workOf(platform))
}

/** Another workspace, with these people in it. */
const joined = async (role: Member['role'], ...people: Person['user'][]): Promise<string> => {
  const { id: workspace_id } = await workspace(platform.deps)
  const joined_at = platform.clock.now()
  await platform.deps.table.transact(
    people.flatMap(({ id: user_id, name }) => [
      MemberEntity.create({ workspace_id, user_id, name, role, joined_at }),
      MembershipEntity.create({ workspace_id, user_id }),
    ]),
  )
  return workspace_id
}

describe('PATCH /console/me and /console/workspace', () => {
  it('change what is sent, in canonical form, and leave the rest', async () => {
    const { people } = await team(platform, 'owner')
    const { token, user } = people[0] as Awaited<ReturnType<typeof member>>
    const edited = await call(token, 'PATCH', '/console/me', { locale: 'DE-ch', time_zone: 'europe/zurich' })
    expect(edited.body).toEqual({ id: user.id, name: user.name, locale: 'de-CH', time_zone: 'Europe/Zurich' })
    const place = await call(token, 'PATCH', '/console/workspace', { name: 'Acme', time_zone: 'Asia/Tokyo' })
    expect(place.body).toMatchObject({ name: 'Acme', locale: 'en', time_zone: 'Asia/Tokyo', role: 'owner' })
    const { body } = await call(token, 'GET', '/console/me')
    expect([body.user, body.workspace]).toEqual([edited.body, place.body])
  })

  it('refuse what names no language or time zone; the workspace’s take an admin', async () => {
    const { people, workspaceId } = await team(platform, 'owner', 'member')
    const [owner, plain] = people as Awaited<ReturnType<typeof member>>[]
    for (const body of [{ locale: 'no such' }, { time_zone: 'Mars/Base' }, { time_zone: '+02:00' }, { name: ' ' }]) {
      for (const path of ['/console/me', '/console/workspace']) {
        const answer = await call(owner?.token ?? '', 'PATCH', path, body)
        expect(answer.body.error?.details.fields, JSON.stringify(body)).toHaveProperty(Object.keys(body)[0] ?? '')
      }
    }
    expect(codeOf(await call(plain?.token ?? '', 'PATCH', '/console/workspace', { name: 'Mine' }))).toBe(
      'admin_required',
    )
    await call(owner?.token ?? '', 'PATCH', '/console/workspace', { name: 'Acme' })
    await call(owner?.token ?? '', 'PATCH', '/console/workspace', { name: 'Acme' })
    expect(await audited(platform, workspaceId)).toMatchObject([
      { action: 'workspace.edited', details: { fields: ['name'] } },
    ])
  })
})

describe('DELETE /console/me', () => {
  it('is refused to the last owner of a workspace with others, and says which and what to do', async () => {
    const { people, workspaceId } = await team(platform, 'owner', 'member')
    const [owner, other] = people as Awaited<ReturnType<typeof member>>[]
    const refused = await call(owner?.token ?? '', 'DELETE', '/console/me')
    expect(refused.body.error).toMatchObject({ code: 'conflict', details: { workspaces: [{ id: workspaceId }] } })
    expect(refused.body.error.fix).toContain('PATCH /console/members/{id}')
    await call(owner?.token ?? '', 'PATCH', `/console/members/${other?.user.id}`, { role: 'owner' })
    expect(codeOf(await call(owner?.token ?? '', 'DELETE', '/console/me'))).toBe(204)
    expect((await platform.deps.table.get(WorkspaceEntity, { id: workspaceId }))?.status).toBe('active')
  })

  it('of two owners at once one stays', async () => {
    const { people, workspaceId } = await team(platform, 'owner', 'owner', 'member')
    const [first, second] = people as Awaited<ReturnType<typeof member>>[]
    const answers = await Promise.all([first, second].map((one) => call(one?.token ?? '', 'DELETE', '/console/me')))
    expect(answers.map(codeOf).sort()).toEqual([204, 'conflict'])
    const left = people.filter((_, i) => i > 1 || codeOf(answers[i] as Answer) !== 204)
    const { body } = await call(left.at(-1)?.token ?? '', 'GET', '/console/members')
    expect(body.items.map(({ role }: { role: string }) => role).sort()).toEqual(['member', 'owner'])
    expect(workspaceId).toBeTruthy()
  })

  it('leaves several workspaces at once: those that one and the same person goes on with, and those that nobody else is in', async () => {
    const { people } = await team(platform, 'owner', 'owner')
    const [leaver, partner] = people as [Person, Person]
    const shared = await joined('owner', leaver.user, partner.user)
    const own = []
    for (let n = 0; n < 8; n++) own.push(await joined('owner', leaver.user))
    const before = await totalOf(platform.deps, ['workspaces-deleting-customer'])
    expect(codeOf(await call(leaver.token, 'DELETE', '/console/me'))).toBe(204)
    const status = async (id: string) => (await platform.deps.table.get(WorkspaceEntity, { id }))?.status
    expect(await status(shared)).toBe('active')
    expect(await Promise.all(own.map(status))).toEqual(own.map(() => 'deleting'))
    expect(await totalOf(platform.deps, ['workspaces-deleting-customer'])).toBe(before + own.length)
  })

  it('from more workspaces than can be left at once is refused with what to do first, and then it can be done', async () => {
    const { people } = await team(platform, 'owner')
    const [leaver] = people as [Person]
    const own = []
    for (let n = 0; n < 16; n++) own.push(await joined('owner', leaver.user))
    const refused = await call(leaver.token, 'DELETE', '/console/me')
    expect(refused.body.error).toMatchObject({ code: 'conflict', fix: expect.stringContaining('/console/workspace') })
    for (const workspace_id of own) {
      const { body } = await call(leaver.token, 'POST', '/console/session/workspace', { workspace_id })
      platform.clock.advance(1_000)
      expect(codeOf(await call(body.token, 'DELETE', '/console/workspace'))).toBe(204)
    }
    expect(codeOf(await call(leaver.token, 'DELETE', '/console/me'))).toBe(204)
  })

  it('at the moment at which the workspace’s deletion is taken back leaves no workspace without an owner', async () => {
    const { people, workspaceId } = await team(platform, 'owner', 'member')
    const [owner] = people as [Person]
    const { table } = platform.deps
    await call(owner.token, 'DELETE', '/console/workspace')
    const work = workOf(platform)
    const commit: Work['commit'] = async (writes) => {
      const { status } = await call(owner.token, 'POST', '/console/workspace/restore')
      expect([200, 409]).toContain(status)
      return work.commit(writes)
    }
    const user = (await table.get(UserEntity, { id: owner.user.id })) as User
    const session = { id: 'ses_01kae5m1v8w6c3x9q2r7t4y0zn' } as Session
    await expect(deleteAccount({ ...work, commit }, { user, session })).rejects.toMatchObject({ code: 'conflict' })
    expect((await table.get(WorkspaceEntity, { id: workspaceId }))?.status).toBe('active')
    expect(await table.get(MemberEntity, { workspace_id: workspaceId, user_id: user.id })).toMatchObject({
      role: 'owner',
    })
  })

  it('at the moment at which they join another workspace leaves that one, too', async () => {
    const { people, workspaceId } = await team(platform, 'owner', 'owner')
    const [leaver] = people as [Person]
    const { table } = platform.deps
    const user = (await table.get(UserEntity, { id: leaver.user.id })) as User
    let there: string | undefined
    const work = workOf(platform)
    const commit: Work['commit'] = async (writes) => {
      if (there === undefined) {
        there = await joined('member', leaver.user, (await team(platform, 'owner')).people[0]?.user ?? leaver.user)
        // As whoever joins by an invitation does in that transaction.
        await table.transact([UserEntity.update(user, { add: { joins: 1 } })])
      }
      return work.commit(writes)
    }
    await deleteAccount({ ...work, commit }, { user, session: leaver.session })
    expect((await table.query(MembershipEntity, { user_id: user.id }, { limit: 9 })).items).toEqual([])
    expect(await table.get(MemberEntity, { workspace_id: there ?? '', user_id: user.id })).toBeUndefined()
    const left = (await table.get(UserEntity, { id: user.id }))?.left
    expect(left?.toSorted()).toEqual([workspaceId, there].toSorted())
  })

  it('deletes the workspace of one who is alone in it, with its grace', async () => {
    const { people, workspaceId } = await team(platform, 'owner')
    const { token } = people[0] as Awaited<ReturnType<typeof member>>
    expect(codeOf(await call(token, 'DELETE', '/console/me'))).toBe(204)
    expect(await platform.deps.table.get(WorkspaceEntity, { id: workspaceId })).toMatchObject({
      status: 'deleting',
      deletes_at: platform.clock.now() + 14 * 86_400_000,
    })
  })

  it('ends every session at once, and leaves no name, vote or chat behind', async () => {
    const app = await installed(platform.deps)
    const person = await member(platform.deps, app.workspaceId, 'owner')
    const name = `Zacharias ${person.user.id}`
    await call(person.token, 'PATCH', '/console/me', { name })
    const { body: task } = await call(person.token, 'POST', '/console/tasks', { title: 'Count' })
    await call(person.token, 'POST', `/console/tasks/${task.id}/messages`, { text: 'Please.' })
    const { body: wish } = await call(app.person.token, 'POST', '/console/agent-requests', { title: 'Counts' })
    await call(person.token, 'POST', `/console/agent-requests/${wish.id}/vote`)
    await platform.deps.table.transact([
      BotChatEntity.replace({ identity: person.user.identity, can_be_written_to: true, heard_at: 1 }),
    ])
    await othersRemoved()
    expect(codeOf(await call(person.token, 'DELETE', '/console/me'))).toBe(204)
    expect((await call(person.token, 'GET', '/console/me')).status).toBe(401)
    const { body } = await call(app.person.token, 'GET', '/console/members')
    expect(JSON.stringify(body)).not.toContain('Zacharias')
    platform.clock.advance(SETTLED)
    for (let rounds = 0; rounds < 12; rounds++) await removeWhatIsDue(workOf(platform), { ...ROUND, records: 30 })
    expect((await platform.deps.table.get(AgentRequestEntity, { id: wish.id }))?.votes).toBe(0)
    const named = (await everything(platform)).filter((item) => JSON.stringify(item).includes(name))
    expect(named.map(({ pk, sk }) => `${pk} ${sk}`)).toEqual([])
    expect(await platform.deps.table.get(UserEntity, { id: person.user.id })).toEqual({
      id: person.user.id,
      name: 'Deleted user',
      identity: `deleted:${person.user.id}`,
      locale: 'en',
      time_zone: 'UTC',
      status: 'deleted',
      home_workspace_id: '',
      created_at: person.user.created_at,
      deleted_at: expect.any(Number),
    })
  })

  it('looks for the name in each partition once, and in reviews, whatever number of runs there are', async () => {
    const app = await installed(platform.deps)
    const person = await member(platform.deps, app.workspaceId, 'owner')
    const name = `Zebulon ${person.user.id}`
    await call(person.token, 'PATCH', '/console/me', { name })
    await platform.deps.table.transact([AppEntity.update({ id: app.app.id }, { set: { status: 'approved' } })])
    expect(codeOf(await call(person.token, 'PUT', `/console/apps/${app.app.id}/review`, { rating: 5 }))).toBe(200)
    const { body: started } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: {} } })
    const at = { installation_id: app.installation.id, id: started.id }
    const run = (await platform.deps.table.get(RunEntity, at)) as Run
    const { workspace_id, installation_id, created_at } = run
    for (let n = 0; n < 120; n++) {
      const id = newId('run', created_at + n)
      const actor = { id: person.user.id, name }
      await platform.deps.table.transact([
        RunEntity.create({ ...run, id, actor, due_at: undefined }),
        WorkspaceRunEntity.create({ workspace_id, run_id: id, installation_id, created_at }),
      ])
    }
    await othersRemoved()
    expect(codeOf(await call(person.token, 'DELETE', '/console/me'))).toBe(204)
    platform.clock.advance(SETTLED)
    const work = workOf(platform)
    const read = new Map<string, number>()
    const page: typeof work.table.page = (index, partition, prefix, options) => {
      // What empties or renames reads partitions whole, of whatever entity.
      const place = `${partition} ${options.after ?? ''}`
      if (index === 'sk' && prefix === undefined) read.set(place, (read.get(place) ?? 0) + 1)
      return work.table.page(index, partition, prefix, options)
    }
    const counting = new Proxy(work.table, {
      get: (of, field) => {
        const value = Reflect.get(of, field)
        return field === 'page' ? page : typeof value === 'function' ? value.bind(of) : value
      },
    })
    await removeWhatIsDue({ ...work, table: counting })
    expect([...read].filter(([, times]) => times > 1)).toEqual([])
    const named = (await everything(platform)).filter((item) => JSON.stringify(item).includes(name))
    expect(named.map(({ pk, sk }) => `${pk} ${sk}`)).toEqual([])
  })

  it('sets the identity free: signing in with it later makes a new person', async () => {
    const telegram = await startTelegram(platform)
    const ann = telegram.person({ first_name: 'Ann' })
    const signIn = () =>
      platform.call('POST', '/console/bot/webapp-auth', { body: { init_data: telegram.initData(ann) } })
    const first = (await signIn()).body
    expect(codeOf(await call(first.token, 'DELETE', '/console/me'))).toBe(204)
    platform.clock.advance(5_000)
    const second = (await signIn()).body
    await telegram.stop()
    expect(second.user.id).not.toBe(first.user.id)
    expect(second.workspace.id).not.toBe(first.workspace.id)
    const local = async () =>
      (await platform.call('POST', '/console/session', { body: { user: 'leaver', workspace: 'leavers' } })).body
    const before = await local()
    await call(before.token, 'DELETE', '/console/me')
    expect((await local()).user.id).not.toBe(before.user.id)
  })
})
