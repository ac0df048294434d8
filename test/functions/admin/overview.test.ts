import { expect, it } from 'vitest'
import { withInstallation } from '#shared/access/installations/install.ts'
import { removeInstallation } from '#shared/access/installations/remove.ts'
import { platformCountWrite } from '#shared/foundation/counters/count.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { countEvents } from '#shared/insight/statistics/count.ts'
import { DAY, HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { newId } from '#shared/kernel/ids.ts'
import { loadRun, runWrite } from '#shared/work/runs/change.ts'
import { completeRun } from '#shared/work/runs/finish.ts'
import { newApp, newDeveloper } from '#testkit/developers.ts'
import { installed, workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { emitCreated, readAsAdmin } from './observation-support.ts'

const platform = usingPlatform()

const overview = () => readAsAdmin(platform, '/admin/overview')
const today = async (tz = 'UTC') => (await readAsAdmin(platform, `/admin/metrics?days=1&tz=${tz}`)).daily[0]

/** Returns a day's figures before and after a change. */
const added = async (change: () => Promise<unknown>) => {
  const before = await today()
  await change()
  const after = await today()
  return { before, after }
}

const started = async (token: string): Promise<{ id: string; installation_id: string }> => {
  platform.clock.advance(1_000)
  const { status, body } = await platform.call('POST', '/api/v1/runs', { token, body: { input: {} } })
  expect(status).toBe(201)
  await emitCreated(platform, body)
  return body
}

it('counts new developers, their sandboxes and apps as they are created, exactly under 12 concurrent requests', async () => {
  const before = await overview()
  const { before: was, after } = await added(async () => {
    const developers = await Promise.all(Array.from({ length: 12 }, () => newDeveloper(platform)))
    await Promise.all(developers.slice(0, 6).map((developer) => newApp(developer)))
  })
  expect(after.new_developers - was.new_developers).toBe(12)
  expect(after.new_apps - was.new_apps).toBe(6)
  const then = await overview()
  expect(then.developers.total - before.developers.total).toBe(12)
  expect(then.workspaces.sandbox.active - before.workspaces.sandbox.active).toBe(12)
  expect(then.apps.by_status.draft - before.apps.by_status.draft).toBe(6)
  expect(then.apps.total - before.apps.total).toBe(6)
})

it('counts each run, its outcome and its cost once, however often its events are delivered', async () => {
  const { token } = await installed(platform.deps)
  await platform.drain()
  const before = await overview()
  const { before: was, after } = await added(async () => {
    const earlier = platform.emitted.length
    const runs = [await started(token), await started(token), await started(token)]
    const work = createWorkerWork(platform.deps)
    for (const [i, run] of runs.slice(0, 2).entries()) {
      const key = { installation_id: run.installation_id, id: run.id }
      await platform.deps.table.transact([runWrite(await loadRun(work, key), { status: 'running' })])
      await completeRun(
        work,
        key,
        i === 0 ? { status: 'succeeded', output: {}, cost_units: 2.5 } : { status: 'failed' },
      )
    }
    // Delivers each event twice, in reverse order, to concurrent workers: also those that a dispatch would carry. Nothing else
    // handles them.
    platform.outbox.splice(0)
    const events = platform.emitted.slice(earlier).reverse()
    await Promise.all([...events, ...events].map((event) => countEvents(work, [event])))
  })
  expect(after.runs.created - was.runs.created).toBe(3)
  expect(after.runs.succeeded - was.runs.succeeded).toBe(1)
  expect(after.runs.failed - was.runs.failed).toBe(1)
  expect(after.cost_units - was.cost_units).toBe(2.5)
  const then = await overview()
  expect(then.runs.active - before.runs.active).toBe(1)
  expect(then.runs.today.created - before.runs.today.created).toBe(3)
})

it('counts installations by their current status, and those added and removed', async () => {
  const { app, version } = await installed(platform.deps)
  const work = createWorkerWork(platform.deps)
  const before = await overview()
  const { before: was, after } = await added(async () => {
    const made = []
    for (let i = 0; i < 3; i++) {
      const home = await workspace(platform.deps)
      const plan = { app, version, workspace: home, scopes: [], owner: { id: 'usr_1', name: 'Ann' } }
      made.push(
        await withInstallation(work, plan, async ({ installation, writes }) => {
          await work.commit(writes)
          return installation
        }),
      )
    }
    const [removed] = made
    if (removed) await removeInstallation(work, { type: 'user', id: 'usr_1' }, removed.workspace_id, removed.id)
    await platform.drain()
  })
  expect([after.installed - was.installed, after.uninstalled - was.uninstalled]).toEqual([3, 1])
  expect((await overview()).installations.active - before.installations.active).toBe(2)
})

it('assigns each quarter of an hour to a day of the requested time zone, and loses none between two days', async () => {
  // 2031-03-09: New York switches to daylight saving time. Midnight in Nepal is at 18:15 UTC.
  const noon = Date.UTC(2031, 2, 9, 12)
  const { deps, clock } = platform
  clock.advance(noon + 30 * HOUR - clock.now())
  const times = Array.from({ length: 2 * 96 }, (_, i) => noon - DAY + i * 15 * MINUTE)
  for (const at of times) {
    await deps.table.transact([platformCountWrite(platform.deps, at, newId('delivery', at), { deliveries_failed: 1 })])
  }
  for (const [tz, expected] of [
    ['UTC', { '2031-03-08': 48, '2031-03-09': 96, '2031-03-10': 48 }],
    ['America/New_York', { '2031-03-08': 68, '2031-03-09': 92, '2031-03-10': 32 }],
    ['Asia/Kathmandu', { '2031-03-08': 25, '2031-03-09': 96, '2031-03-10': 71 }],
  ] as const) {
    const { daily } = await readAsAdmin(platform, `/admin/metrics?days=7&tz=${tz}`)
    const counts = daily.map(({ date, webhook_deliveries }: Record<string, { failed: number }>) => [
      date,
      webhook_deliveries?.failed,
    ])
    expect(Object.fromEntries(counts.filter(([, n]: [string, number]) => n > 0))).toEqual(expected)
  }
})

it('reads the figures at a cost that doesn’t depend on the amount of activity', async () => {
  const queries = async () => {
    const sent: string[] = []
    const spy = platform.store.client.middlewareStack
    spy.add(
      (next, context) => async (args) => {
        sent.push(String(context.commandName))
        return next(args)
      },
      { step: 'initialize', name: 'count' },
    )
    await readAsAdmin(platform, '/admin/metrics?days=7')
    await overview()
    spy.remove('count')
    return sent.length
  }
  const before = await queries()
  const at = platform.clock.now()
  for (let i = 0; i < 20; i++) {
    await platform.deps.table.transact([platformCountWrite(platform.deps, at, `${i}`, { runs: 1, cost_units: 0.5 })])
  }
  expect(await queries()).toBe(before)
})
