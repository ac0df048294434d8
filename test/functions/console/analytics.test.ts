import { beforeEach, describe, expect, it } from 'vitest'
import { FeedEntryEntity } from '#shared/delivery/feed/entity.ts'
import { OutboxEntity } from '#shared/foundation/outbox/entity.ts'
import { emitEvent } from '#shared/foundation/outbox/outbox.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { SessionEntity } from '#shared/identity/people/entity.ts'
import { DAY, HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { newId, siblingId } from '#shared/kernel/ids.ts'
import { type Run, RunEntity } from '#shared/work/runs/index.ts'
import { type Installed, installed, sessionOf } from '#testkit/fixtures.ts'
import { succeeds } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { consoleOf, startAwaitingRun } from './notifications-support.ts'

const platform = usingPlatform()
let app: Installed
const agent = usingReceiver()
beforeEach(async () => {
  platform.clock.advance(MINUTE)
  app = await installed(platform.deps, { endpoint: agent.url })
  answers()
})

const answers = (body: Record<string, unknown> = {}) => agent.answer(succeeds(body))

/** Issues a token now, since the tests let days pass. */
const tokenOf = async ({ installation, grant, app: { id }, workspaceId }: Installed) =>
  (await issueToken(platform.deps, 'access', { ins: installation.id, ws: workspaceId, app: id, grt: grant.id, sv: 1 }))
    .token

const run = async (of: Installed = app) => {
  const { body } = await platform.call('POST', '/api/v1/runs', { token: await tokenOf(of), body: { input: {} } })
  await platform.drain()
  return body.id as string
}

/** Creates a member of the workspace who signs in now. */
const person = async () => {
  const { user } = app.person
  const session = sessionOf(platform, user.id, app.workspaceId)
  await platform.deps.table.transact([SessionEntity.create(session)])
  const claims = { ses: session.id, usr: user.id, ws: app.workspaceId, mem: user.created_at }
  return consoleOf(platform, (await issueToken(platform.deps, 'console', claims)).token)
}

const figures = async (query = '') => (await person()).read(`/analytics${query}`)

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

describe('the workspace’s analytics', () => {
  it('contain runs, outcomes, durations and costs by day, in total and per agent', async () => {
    const other = await installed(platform.deps, { endpoint: agent.url, workspaceId: app.workspaceId })
    const elsewhere = await installed(platform.deps, { endpoint: agent.url })
    answers({ cost_units: 0.1 })
    await run()
    await run(other)
    await run(elsewhere)
    answers({ status: 'failed', error_code: 'no_stock', error_message: 'None.', cost_units: 0.2 })
    await run()
    platform.clock.advance(DAY)
    answers({ cost_units: 2 })
    await run()
    const today = dayOf(platform.clock.now())
    const body = await figures('?days=3')
    expect(body).toMatchObject({
      time_zone: 'UTC',
      from: dayOf(platform.clock.now() - 2 * DAY),
      to: today,
      runs: 4,
      succeeded: 3,
      failed: 1,
      cancelled: 0,
      success_rate: 0.75,
      duration_ms: { average: expect.any(Number), median: expect.any(Number) },
      cost_units: 2.4,
      agents: { active: 2 },
      approvals_pending: 0,
    })
    expect(body.daily.map(({ runs }: { runs: number }) => runs)).toEqual([0, 3, 1])
    expect(body.daily[1]).toMatchObject({ runs: 3, succeeded: 2, failed: 1, cost_units: 0.4 })
    expect(body.daily[2]).toEqual({
      date: today,
      runs: 1,
      succeeded: 1,
      failed: 0,
      cancelled: 0,
      cost_units: 2,
      tokens: 0,
    })
    expect(body.by_agent).toMatchObject([
      { installation_id: app.installation.id, name: app.app.name, runs: 3, success_rate: 0.6667, cost_units: 2.3 },
      { installation_id: other.installation.id, runs: 1, succeeded: 1, failed: 0, cost_units: 0.1 },
    ])
    expect(await figures('?days=1')).toMatchObject({ runs: 1, succeeded: 1, agents: { active: 1 } })
  })

  it.each([
    ['Asia/Kathmandu', 5.75],
    ['America/St_Johns', -3.5],
    ['Pacific/Kiritimati', 14],
  ])('use the days of %s, exact to the minute of its midnight', async (tz, hours) => {
    const midnight = Math.ceil(platform.clock.now() / DAY) * DAY + DAY - hours * HOUR
    platform.clock.advance(midnight - MINUTE - platform.clock.now())
    await run()
    platform.clock.advance(2 * MINUTE)
    await run()
    await run()
    const body = await figures(`?days=2&tz=${tz}`)
    expect(body.daily.map(({ date, runs }: { date: string; runs: number }) => [date, runs])).toEqual([
      [dayOf(midnight + hours * HOUR - DAY), 1],
      [dayOf(midnight + hours * HOUR), 2],
    ])
    expect(await figures(`?days=1&tz=${tz}`)).toMatchObject({ runs: 2, succeeded: 2, time_zone: tz })
  })

  it('count pending approvals, in whatever order and however often events are delivered', async () => {
    agent.answer({ kind: 'answer', status: 202 })
    const waiting = [
      await startAwaitingRun(platform, app.token),
      await startAwaitingRun(platform, app.token),
      await startAwaitingRun(platform, app.token),
    ]
    await platform.drain()
    expect(await figures()).toMatchObject({ approvals_pending: 3 })
    const decide = async ({ runId, stepId }: { runId: string; stepId: string }, decision: string) =>
      (await person()).call('POST', `/runs/${runId}/steps/${stepId}/decision`, { decision })
    const [first, second, third] = waiting as [(typeof waiting)[0], (typeof waiting)[0], (typeof waiting)[0]]
    await decide(first, 'reject')
    await platform.call('POST', `/api/v1/runs/${second.runId}/cancel`, { token: app.token })
    await platform.drain()
    expect(await figures()).toMatchObject({ approvals_pending: 1 })
    const { items } = await platform.deps.table.query(
      FeedEntryEntity,
      { installation_id: app.installation.id },
      { limit: 100 },
    )
    const messages = []
    for (const { event_id, type } of items) {
      if (!type.startsWith('run.')) continue
      const detail = (await platform.deps.table.get(OutboxEntity, { id: event_id })) ?? expect.fail('no event')
      messages.push({ queue: 'statistics' as const, body: { 'detail-type': type, detail }, dueAt: 0, group: undefined })
    }
    for (const message of [...messages, ...messages.toReversed()]) expect(await platform.deliver(message)).toBe(true)
    expect(await figures()).toMatchObject({ approvals_pending: 1, runs: 3, cancelled: 1 })
    await decide(third, 'approve')
    await platform.drain()
    expect(await figures()).toMatchObject({ approvals_pending: 0 })
  })

  it('count tasks by status, including unassigned ones', async () => {
    const ann = await person()
    const tasks = []
    for (let i = 0; i < 4; i++) {
      const { body } = await ann.call('POST', '/tasks', {
        title: `Task ${i}`,
        description: 'All.',
        ...(i % 2 && { installation_id: app.installation.id }),
      })
      tasks.push(body.id as string)
    }
    await platform.drain()
    expect((await figures()).tasks).toEqual({ todo: 4, in_progress: 0, discuss: 0, review: 0, done: 0 })
    const moves = ['done', 'in_progress', 'review', 'discuss', 'done'] as const
    await Promise.all(
      tasks.slice(0, 3).map(async (id) => {
        for (const status of moves) expect((await ann.call('PATCH', `/tasks/${id}`, { status })).status).toBe(200)
      }),
    )
    await platform.drain()
    expect((await figures()).tasks).toEqual({ todo: 1, in_progress: 0, discuss: 0, review: 0, done: 3 })
  })

  it('count installations', async () => {
    const emitInstallationEvent = (
      type: 'installation.created' | 'installation.removed',
      { installation, app: { id } }: Installed,
    ) =>
      platform.deps.table.transact([
        emitEvent(platform.clock, {
          type,
          workspace_id: app.workspaceId,
          installation_id: installation.id,
          app_id: id,
          data: { installation_id: installation.id, app_id: id, status: 'active', scopes: [] },
        }),
      ])
    const other = await installed(platform.deps, { workspaceId: app.workspaceId })
    await emitInstallationEvent('installation.created', app)
    await emitInstallationEvent('installation.created', other)
    await emitInstallationEvent('installation.removed', other)
    await platform.drain()
    expect(await figures()).toMatchObject({ agents: { installed: 1, active: 0 } })
  })

  it('are exact under many concurrent events, each delivered twice', async () => {
    await run()
    const feed = await platform.deps.table.query(
      FeedEntryEntity,
      { installation_id: app.installation.id },
      { limit: 10 },
    )
    const ended = feed.items.find(({ type }) => type === 'run.succeeded') ?? expect.fail('no event')
    const event = (await platform.deps.table.get(OutboxEntity, { id: ended.event_id })) ?? expect.fail('no event')
    const { run_id } = JSON.parse(event.data)
    const first =
      (await platform.deps.table.get(RunEntity, { installation_id: app.installation.id, id: run_id })) ??
      expect.fail('no run')
    // Further runs that ended at the same time.
    const further = Array.from({ length: 50 }, (): Run => ({ ...first, id: newId('run', first.created_at) }))
    await Promise.all(further.map((one) => platform.deps.table.transact([RunEntity.create(one)])))
    const messages = further.flatMap((one) =>
      (['run.created', 'run.succeeded'] as const).map((type) => {
        const id = type === 'run.created' ? siblingId('event', one.id) : newId('event', event.created_at)
        const detail = { ...event, id, type, data: JSON.stringify({ ...JSON.parse(event.data), run_id: one.id }) }
        return { queue: 'statistics' as const, body: { 'detail-type': type, detail }, dueAt: 0, group: undefined }
      }),
    )
    let left = [...messages, ...messages]
    for (let rounds = 0; left.length > 0 && rounds < 10; rounds++) {
      const batches = Array.from({ length: Math.ceil(left.length / 10) }, (_, i) => left.slice(10 * i, 10 * i + 10))
      const handled = (await Promise.all(batches.map((batch) => platform.deliverBatch(batch)))).flat()
      left = left.filter((_, i) => !handled[i])
    }
    expect(left).toEqual([])
    expect(await figures()).toMatchObject({ runs: 51, succeeded: 51 })
  })

  it('need the same number of reads for many runs as for few', async () => {
    const { table } = platform.deps
    const reads = async () => {
      const { get, query, getAll } = table
      const counted: string[] = []
      for (const [name, real] of Object.entries({ get, query, getAll })) {
        Object.assign(table, {
          [name]: (...given: unknown[]) => {
            counted.push(name)
            return (real as (...given: unknown[]) => unknown).apply(table, given)
          },
        })
      }
      await figures('?days=90')
      Object.assign(table, { get, query, getAll })
      return counted.sort()
    }
    await run()
    const few = await reads()
    for (let i = 0; i < 10; i++) await run()
    expect(await reads()).toEqual(few)
  })

  it('refuse invalid days and time zones', async () => {
    const ann = await person()
    for (const query of ['days=0', 'days=91', 'days=x', 'tz=Mars/Olympus', 'tz=', 'tz=%2B05:37', 'from=2026-01-01']) {
      expect((await ann.call('GET', `/analytics?${query}`)).status, query).toBe(422)
    }
  })
})
