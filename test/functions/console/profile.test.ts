import { beforeEach, describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { readTotal } from '#shared/foundation/totals/totals.ts'
import type { Work } from '#shared/foundation/work/work.ts'
import {
  type Member,
  MemberEntity,
  MembershipEntity,
  type Session,
  type User,
  UserEntity,
  WorkspaceEntity,
} from '#shared/identity/people/entity.ts'
import { newId } from '#shared/kernel/ids.ts'
import { deleteAccount } from '#shared/lifecycle/people/delete-account.ts'
import { ROUND, runRemovalRound } from '#shared/lifecycle/removal/round.ts'
import { AgentRequestEntity } from '#shared/marketplace/requests/entity.ts'
import { BotChatEntity } from '#shared/messaging/bot/entity.ts'
import { type Run, RunEntity, WorkspaceRunEntity } from '#shared/work/runs/entity.ts'
import { scanTable } from '#test/functions/workers/workspace-removal-support.ts'
import { installed, member, workspace } from '#testkit/fixtures.ts'
import type { Answer } from '#testkit/platform.ts'
import { startTelegram } from '#testkit/telegram.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { listAudit, newTeam, workOf } from './people-support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const codeOf = ({ status, body }: Answer) => (status < 300 ? status : body.error.code)
const call = (token: string, method: string, path: string, body?: object) =>
  platform.call(method, path, { token, body })

type Person = Awaited<ReturnType<typeof member>>

/** Period after which no more writes for a deleted account can arrive. */
const SETTLED = 15 * 60_000

/** Completes the removals that earlier tests left pending. */
const othersRemoved = async () => {
  platform.clock.advance(SETTLED)
  await runRemovalRound(workOf(platform))
}

/** Creates another workspace with these people as members. */
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
  it('change the given fields, normalized, and keep the others', async () => {
    const { people } = await newTeam(platform, 'owner')
    const { token, user } = people[0] as Awaited<ReturnType<typeof member>>
    const edited = await call(token, 'PATCH', '/console/me', { locale: 'DE-ch', time_zone: 'europe/zurich' })
    expect(edited.body).toEqual({
      id: user.id,
      name: user.name,
      locale: 'de-CH',
      time_zone: 'Europe/Zurich',
      time_zone_chosen: true,
    })
    const place = await call(token, 'PATCH', '/console/workspace', { name: 'Acme', time_zone: 'Asia/Tokyo' })
    expect(place.body).toMatchObject({ name: 'Acme', locale: 'en', time_zone: 'Asia/Tokyo', role: 'owner' })
    const { body } = await call(token, 'GET', '/console/me')
    expect([body.user, body.workspace]).toEqual([edited.body, place.body])
  })

  it('refuse unknown languages and time zones, and require an admin for the workspace’s', async () => {
    const { people, workspaceId } = await newTeam(platform, 'owner', 'member')
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
    expect(await listAudit(platform, workspaceId)).toMatchObject([
      { action: 'workspace.edited', details: { fields: ['name'] } },
    ])
  })
})

describe('DELETE /console/me', () => {
  it('is refused for the last owner of a workspace with other members, naming it and the next step', async () => {
    const { people, workspaceId } = await newTeam(platform, 'owner', 'member')
    const [owner, other] = people as Awaited<ReturnType<typeof member>>[]
    const refused = await call(owner?.token ?? '', 'DELETE', '/console/me')
    expect(refused.body.error).toMatchObject({ code: 'conflict', details: { workspaces: [{ id: workspaceId }] } })
    expect(refused.body.error.fix).toContain('PATCH /console/members/{id}')
    await call(owner?.token ?? '', 'PATCH', `/console/members/${other?.user.id}`, { role: 'owner' })
    expect(codeOf(await call(owner?.token ?? '', 'DELETE', '/console/me'))).toBe(204)
    expect((await platform.deps.table.get(WorkspaceEntity, { id: workspaceId }))?.status).toBe('active')
  })

  it('keeps one of two owners who leave concurrently', async () => {
    const { people, workspaceId } = await newTeam(platform, 'owner', 'owner', 'member')
    const [first, second] = people as Awaited<ReturnType<typeof member>>[]
    const answers = await Promise.all([first, second].map((one) => call(one?.token ?? '', 'DELETE', '/console/me')))
    expect(answers.map(codeOf).sort()).toEqual([204, 'conflict'])
    const left = people.filter((_, i) => i > 1 || codeOf(answers[i] as Answer) !== 204)
    const { body } = await call(left.at(-1)?.token ?? '', 'GET', '/console/members')
    expect(body.items.map(({ role }: { role: string }) => role).sort()).toEqual(['member', 'owner'])
    expect(workspaceId).toBeTruthy()
  })

  it('leaves several workspaces at once, whether shared with another person or used alone', async () => {
    const { people } = await newTeam(platform, 'owner', 'owner')
    const [leaver, partner] = people as [Person, Person]
    const shared = await joined('owner', leaver.user, partner.user)
    const own = []
    for (let n = 0; n < 8; n++) own.push(await joined('owner', leaver.user))
    const before = await readTotal(platform.deps, ['workspaces-deleting-customer'])
    expect(codeOf(await call(leaver.token, 'DELETE', '/console/me'))).toBe(204)
    const status = async (id: string) => (await platform.deps.table.get(WorkspaceEntity, { id }))?.status
    expect(await status(shared)).toBe('active')
    expect(await Promise.all(own.map(status))).toEqual(own.map(() => 'deleting'))
    expect(await readTotal(platform.deps, ['workspaces-deleting-customer'])).toBe(before + own.length)
  })

  it('is refused with a next step when there are too many workspaces to leave at once, and succeeds after that', async () => {
    const { people } = await newTeam(platform, 'owner')
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

  it('leaves no workspace without an owner when its deletion is concurrently cancelled', async () => {
    const { people, workspaceId } = await newTeam(platform, 'owner', 'member')
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
    const session = { id: 'ses_01kae5m1v8w6c3x9q2r7t4y0zn', workspace_id: workspaceId, user_id: user.id } as Session
    await expect(deleteAccount({ ...work, commit }, { user, session })).rejects.toMatchObject({ code: 'conflict' })
    expect((await table.get(WorkspaceEntity, { id: workspaceId }))?.status).toBe('active')
    expect(await table.get(MemberEntity, { workspace_id: workspaceId, user_id: user.id })).toMatchObject({
      role: 'owner',
    })
  })

  it('leaves a workspace, too, that the person joins concurrently', async () => {
    const { people, workspaceId } = await newTeam(platform, 'owner', 'owner')
    const [leaver] = people as [Person]
    const { table } = platform.deps
    const user = (await table.get(UserEntity, { id: leaver.user.id })) as User
    let there: string | undefined
    const work = workOf(platform)
    const commit: Work['commit'] = async (writes) => {
      if (there === undefined) {
        there = await joined('member', leaver.user, (await newTeam(platform, 'owner')).people[0]?.user ?? leaver.user)
        // As accepting an invitation does in that transaction.
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

  it('deletes a workspace with no other members, with its grace period', async () => {
    const { people, workspaceId } = await newTeam(platform, 'owner')
    const { token } = people[0] as Awaited<ReturnType<typeof member>>
    expect(codeOf(await call(token, 'DELETE', '/console/me'))).toBe(204)
    expect(await platform.deps.table.get(WorkspaceEntity, { id: workspaceId })).toMatchObject({
      status: 'deleting',
      deletes_at: platform.clock.now() + 14 * 86_400_000,
    })
  })

  it('ends every session at once, and leaves no name, vote or conversation behind', async () => {
    const app = await installed(platform.deps)
    const person = await member(platform.deps, app.workspaceId, 'owner')
    const name = `Zacharias ${person.user.id}`
    await call(person.token, 'PATCH', '/console/me', { name })
    const { body: task } = await call(person.token, 'POST', '/console/tasks', { title: 'Count' })
    await call(person.token, 'POST', `/console/tasks/${task.id}/messages`, { text: 'Please.' })
    const { body: request } = await call(app.person.token, 'POST', '/console/agent-requests', { title: 'Counts' })
    await call(person.token, 'POST', `/console/agent-requests/${request.id}/vote`)
    await platform.deps.table.transact([
      BotChatEntity.replace({ identity: person.user.identity, can_be_written_to: true, heard_at: 1 }),
    ])
    await othersRemoved()
    expect(codeOf(await call(person.token, 'DELETE', '/console/me'))).toBe(204)
    expect((await call(person.token, 'GET', '/console/me')).status).toBe(401)
    const { body } = await call(app.person.token, 'GET', '/console/members')
    expect(JSON.stringify(body)).not.toContain('Zacharias')
    platform.clock.advance(SETTLED)
    for (let rounds = 0; rounds < 12; rounds++) await runRemovalRound(workOf(platform), { ...ROUND, records: 30 })
    expect((await platform.deps.table.get(AgentRequestEntity, { id: request.id }))?.votes).toBe(0)
    const named = (await scanTable(platform)).filter((item) => JSON.stringify(item).includes(name))
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

  it('searches each partition for the name once, plus reviews, however many runs there are', async () => {
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
      // Erasing and renaming read whole partitions, with every entity in them.
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
    await runRemovalRound({ ...work, table: counting })
    expect([...read].filter(([, times]) => times > 1)).toEqual([])
    const named = (await scanTable(platform)).filter((item) => JSON.stringify(item).includes(name))
    expect(named.map(({ pk, sk }) => `${pk} ${sk}`)).toEqual([])
  })

  it('frees the identity, so that signing in with it later creates a new person', async () => {
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
