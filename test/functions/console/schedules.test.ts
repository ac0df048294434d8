import { beforeEach, describe, expect, it } from 'vitest'
import { ScheduleEntity, TriggerEntity } from '#shared/agents/schedules/entity.ts'
import { MemberEntity } from '#shared/identity/people/entity.ts'
import { HOUR, iso, MINUTE } from '#shared/kernel/clock.ts'
import { deleteAccount } from '#shared/lifecycle/people/delete-account.ts'
import { installed, member } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { succeeds } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { runRound } from '../workers/workspace-removal-support.ts'
import { consoleOf } from './notifications-support.ts'
import { workOf } from './people-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(() => {
  platform.clock.advance(MINUTE)
  agent.answer(succeeds({}))
})

const start = { input: { question: 'What is new?' } }

const setUp = async () => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  return { app, ...consoleOf(platform, app.person.token) }
}

type Scene = Awaited<ReturnType<typeof setUp>>

const create = ({ app, call }: Scene, fields: object = {}) =>
  succeeded(
    call('POST', '/schedules', {
      installation_id: app.installation.id,
      name: 'News',
      start,
      when: { every: 'PT1H' },
      ...fields,
    }),
  )

/** Lets time pass until a schedule is due and settled, with all that follows. */
const pass = async (ms: number) => {
  platform.clock.advance(ms)
  await platform.sweep()
  await platform.drain()
}

const runsOf = async ({ read }: Scene) =>
  (await read('/runs')).items.filter((run: { trigger: string }) => run.trigger === 'schedule')

describe('a schedule', () => {
  it('starts one run at each of its times, as its creator', async () => {
    const scene = await setUp()
    const schedule = await create(scene)
    expect(schedule.next_times).toHaveLength(5)
    await pass(HOUR)
    await pass(0)
    const runs = await runsOf(scene)
    expect(runs).toMatchObject([{ status: 'succeeded', input: start.input, chain_depth: 0 }])
    expect(runs[0].started_by.id).toBe(scene.app.person.user.id)
    await pass(HOUR)
    expect(await runsOf(scene)).toHaveLength(2)
    const after = await scene.read(`/schedules/${schedule.id}`)
    expect(after).toMatchObject({ status: 'active', failures: 0, last: { status: 'succeeded' } })
    const { items } = await scene.read(`/schedules/${schedule.id}/occurrences`)
    expect(items.map((one: { status: string }) => one.status)).toEqual(['started', 'started'])
  })

  it('ends after its only time', async () => {
    const scene = await setUp()
    const schedule = await create(scene, { when: { at: iso(platform.clock.now() + HOUR) } })
    await pass(HOUR)
    expect(await runsOf(scene)).toHaveLength(1)
    expect(await scene.read(`/schedules/${schedule.id}`)).toMatchObject({ status: 'ended', next_at: null })
  })

  it('makes up for the latest missed time within an hour, and for no other', async () => {
    const scene = await setUp()
    const schedule = await create(scene)
    await pass(5 * HOUR + 20 * MINUTE)
    expect(await runsOf(scene)).toHaveLength(1)
    expect((await scene.read(`/schedules/${schedule.id}`)).last.at).toBe(
      iso(Date.parse(schedule.created_at) + 5 * HOUR),
    )
  })

  it('that skips what it missed starts none', async () => {
    const scene = await setUp()
    const schedule = await create(scene, { missed: 'skip' })
    await pass(5 * HOUR + 20 * MINUTE)
    expect(await runsOf(scene)).toHaveLength(0)
    expect((await scene.read(`/schedules/${schedule.id}`)).last).toMatchObject({ status: 'skipped', reason: 'missed' })
  })

  it.each([
    ['skip', 1, { status: 'skipped', reason: 'overlap' }],
    ['queue', 1, { status: 'running' }],
    ['allow', 2, { status: 'running' }],
  ])('with the overlap %s starts %i runs while the first is active', async (overlap, count, last) => {
    agent.answer({ kind: 'answer', status: 202 })
    const scene = await setUp()
    const schedule = await create(scene, { overlap, when: { every: 'PT10M' } })
    await pass(10 * MINUTE)
    await pass(10 * MINUTE)
    expect(await runsOf(scene)).toHaveLength(count)
    expect((await scene.read(`/schedules/${schedule.id}`)).last).toMatchObject(last)
  })

  it('that queues starts what waits once the run before has ended', async () => {
    agent.answer({ kind: 'answer', status: 202 })
    const scene = await setUp()
    await create(scene, { overlap: 'queue', when: { every: 'PT10M' } })
    await pass(10 * MINUTE)
    await pass(10 * MINUTE)
    const [run] = await runsOf(scene)
    await succeeded(scene.call('POST', `/runs/${run.id}/cancel`))
    await pass(MINUTE)
    expect(await runsOf(scene)).toHaveLength(2)
  })

  it('is paused after five failures in a row, and its creator is notified', async () => {
    agent.answer({ kind: 'answer', status: 400 })
    const scene = await setUp()
    const schedule = await create(scene)
    for (let i = 0; i < 7; i++) await pass(HOUR)
    expect(await runsOf(scene)).toHaveLength(5)
    const paused = await scene.read(`/schedules/${schedule.id}`)
    expect(paused).toMatchObject({ status: 'paused', paused_reason: 'failures', failures: 5, next_at: null })
    const { items } = await scene.read('/notifications')
    expect(items.filter((one: { kind: string }) => one.kind === 'schedule.paused')).toHaveLength(1)
    const resumed = await succeeded(scene.call('POST', `/schedules/${schedule.id}/resume`))
    expect(resumed).toMatchObject({ status: 'active', failures: 0, paused_reason: null })
  })

  it('is paused once its creator has left, and belongs to the admin who resumes it', async () => {
    const scene = await setUp()
    const other = await member(platform.deps, scene.app.workspaceId, 'member')
    const schedule = await create({ ...scene, ...consoleOf(platform, other.token) })
    await platform.deps.table.transact([
      MemberEntity.delete({ workspace_id: scene.app.workspaceId, user_id: other.user.id }),
    ])
    await pass(HOUR)
    expect(await runsOf(scene)).toHaveLength(0)
    expect(await scene.read(`/schedules/${schedule.id}`)).toMatchObject({ paused_reason: 'creator_left' })
    const resumed = await succeeded(scene.call('POST', `/schedules/${schedule.id}/resume`))
    expect(resumed.created_by.id).toBe(scene.app.person.user.id)
  })

  it('ends when its agent is uninstalled, and no event starts it any more', async () => {
    const scene = await setUp()
    const timed = await create(scene)
    const started = await create(scene, { when: { event: 'custom.order.paid' } })
    await succeeded(scene.call('DELETE', `/installations/${scene.app.installation.id}`))
    await pass(2 * HOUR)
    for (const { id } of [timed, started])
      expect(await scene.read(`/schedules/${id}`)).toMatchObject({ status: 'ended', next_at: null })
    const { installation } = scene.app
    const triggers = await platform.deps.table.query(TriggerEntity, { installation_id: installation.id }, { limit: 10 })
    expect(triggers.items).toEqual([])
    expect(await runsOf(scene)).toEqual([])
  })

  it('of a person who deletes their account pauses, and those in their conversations are deleted', async () => {
    const scene = await setUp()
    const leaver = await member(platform.deps, scene.app.workspaceId, 'member')
    const theirs = { ...scene, ...consoleOf(platform, leaver.token) }
    const ofWorkspace = await create(theirs)
    const ofConversation = await create(theirs, { start: { message: 'What is new?' } })
    await deleteAccount(workOf(platform), leaver)
    await runRound(platform)
    await pass(HOUR)
    expect(await scene.read(`/schedules/${ofWorkspace.id}`)).toMatchObject({
      status: 'paused',
      paused_reason: 'creator_left',
    })
    const key = { workspace_id: scene.app.workspaceId, id: ofConversation.id }
    expect(await platform.deps.table.get(ScheduleEntity, key)).toBeUndefined()
    expect(await runsOf(scene)).toEqual([])
  })

  it('paused by a person starts nothing, and goes on from now when it is resumed', async () => {
    const scene = await setUp()
    const schedule = await create(scene)
    await succeeded(scene.call('POST', `/schedules/${schedule.id}/pause`))
    await pass(6 * HOUR)
    expect(await runsOf(scene)).toHaveLength(0)
    const resumed = await succeeded(scene.call('POST', `/schedules/${schedule.id}/resume`))
    expect(Date.parse(resumed.next_at)).toBeGreaterThan(platform.clock.now())
  })

  it('can be run now, without a change of its times', async () => {
    const scene = await setUp()
    const schedule = await create(scene)
    const run = await succeeded(scene.call('POST', `/schedules/${schedule.id}/run`))
    await platform.drain()
    const after = await scene.read(`/schedules/${schedule.id}`)
    expect(after).toMatchObject({ next_at: schedule.next_at, last: { run_id: run.id, status: 'succeeded' } })
  })

  it('with a message writes in its creator’s conversation, which nobody else sees', async () => {
    const scene = await setUp()
    const schedule = await create(scene, { start: { message: 'What is new?' } })
    await pass(HOUR)
    const { items } = await scene.read('/conversations')
    expect(items.some((one: { kind: string }) => one.kind === 'agent')).toBe(true)
    const admin = await member(platform.deps, scene.app.workspaceId, 'owner')
    const others = consoleOf(platform, admin.token)
    expect((await others.call('GET', `/schedules/${schedule.id}`)).status).toBe(404)
    expect((await others.read('/schedules')).items).toEqual([])
  })

  it('is its creator’s: other members don’t see it, admins do, and other workspaces don’t', async () => {
    const scene = await setUp()
    const schedule = await create(scene)
    const seenBy = async (token: string) =>
      (await consoleOf(platform, token).call('GET', `/schedules/${schedule.id}`)).status
    expect(await seenBy((await member(platform.deps, scene.app.workspaceId, 'member')).token)).toBe(404)
    expect(await seenBy((await member(platform.deps, scene.app.workspaceId, 'admin')).token)).toBe(200)
    expect(await seenBy((await setUp()).app.person.token)).toBe(404)
  })
})

describe('a schedule that can’t be', () => {
  it.each([
    ['never fires', { when: { cron: '0 0 30 2 *', time_zone: 'UTC' } }],
    ['is in a zone that doesn’t exist', { when: { cron: '0 0 * * *', time_zone: 'Mars/Base' } }],
    ['is too frequent', { when: { every: 'PT30S' } }],
    ['is over', { when: { at: '2020-01-01T00:00:00Z' } }],
    ['has two times', { when: { every: 'PT1H', at: '2099-01-01T00:00:00Z' } }],
    ['starts nothing', { start: {} }],
  ])('%s is refused, and nothing is saved', async (_what, fields) => {
    const scene = await setUp()
    const answer = await scene.call('POST', '/schedules', {
      installation_id: scene.app.installation.id,
      name: 'News',
      start,
      when: { every: 'PT1H' },
      ...fields,
    })
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'validation_error' } } })
    expect((await scene.read('/schedules')).items).toEqual([])
  })

  it('the hundred and first of an agent is refused, and one more is possible after a pause', async () => {
    const scene = await setUp()
    const { token } = scene.app
    const add = () => {
      platform.clock.advance(1_000)
      return platform.call('POST', '/api/v1/schedules', {
        token,
        body: { name: 'News', start, when: { every: 'PT1H' } },
      })
    }
    const first = await succeeded(add())
    for (let i = 1; i < 100; i++) await succeeded(add())
    expect(await add()).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    await succeeded(platform.call('POST', `/api/v1/schedules/${first.id}/pause`, { token }))
    await succeeded(add())
    expect((await platform.call('POST', `/api/v1/schedules/${first.id}/resume`, { token })).status).toBe(409)
  })

  it('an agent can’t write in a person’s conversation', async () => {
    const { app } = await setUp()
    const body = { name: 'News', start: { message: 'Hello' }, when: { every: 'PT1H' } }
    expect(await platform.call('POST', '/api/v1/schedules', { token: app.token, body })).toMatchObject({ status: 422 })
  })
})
