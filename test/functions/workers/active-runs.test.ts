import { beforeEach, expect, it } from 'vitest'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { SessionEntity } from '#shared/identity/people/entity.ts'
import { ActiveRunEntity } from '#shared/insight/observed-runs/entity.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { startRun } from '#shared/work/runs/start.ts'
import { readAsAdmin } from '#test/functions/admin/observation-support.ts'
import { adopt, newDeveloper, type TestDeveloper } from '#testkit/developers.ts'
import { killAfter } from '#testkit/faults.ts'
import { type Installed, installed, sessionOf } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
let developer: TestDeveloper
let app: Installed
beforeEach(async () => {
  // Noon, so that a test stays within one day.
  platform.clock.advance(DAY - (platform.clock.now() % DAY) + DAY / 2)
  agent.answer({ kind: 'answer', status: 202 })
  developer = await newDeveloper(platform)
  app = await installed(platform.deps, { endpoint: agent.url })
  await adopt(platform, developer, app.app)
})

/** Signs the owner in now. */
const owner = async () => {
  const { user } = app.person
  const session = sessionOf(platform, user.id, app.workspaceId)
  await platform.deps.table.transact([SessionEntity.create(session)])
  const claims = { ses: session.id, usr: user.id, ws: app.workspaceId, mem: user.created_at }
  return (await issueToken(platform.deps, 'console', claims)).token
}

const accessToken = async () => {
  const claims = { ins: app.installation.id, ws: app.workspaceId, app: app.app.id, grt: app.grant.id, sv: 1 }
  return (await issueToken(platform.deps, 'access', claims)).token
}

const start = async (): Promise<string> => {
  const { body } = await platform.call('POST', '/api/v1/runs', { token: await accessToken(), body: { input: {} } })
  return body.id
}

const cancel = async (id: string) =>
  succeeded(platform.call('POST', `/api/v1/runs/${id}/cancel`, { token: await accessToken() }))

const stats = () => succeeded(developer.call('GET', `/api/v1/dev/apps/${app.app.id}/stats?days=2`))
const analytics = async () => succeeded(platform.call('GET', '/console/analytics?days=2', { token: await owner() }))

/** Runs that each figure counts, and each list of active runs has. */
const seen = async () => {
  const [ofApp, ofWorkspace] = [await stats(), await analytics()]
  const overview = await readAsAdmin(platform, '/admin/overview')
  const metrics = await readAsAdmin(platform, '/admin/metrics?days=1')
  const listed = async (query: string) =>
    (await readAsAdmin(platform, `/admin/runs?status=active${query}`)).items.length
  return {
    ofApp: [ofApp.runs, ofApp.daily[1].runs, ofApp.versions.map(({ runs }: { runs: number }) => runs)],
    ofWorkspace: [ofWorkspace.runs, ofWorkspace.daily[1].runs, ofWorkspace.by_agent[0]?.runs],
    ofPlatform: [overview.runs.today.created, metrics.daily[0].runs.created],
    active: [
      overview.runs.active,
      await listed(''),
      await listed(`&app=${app.app.id}`),
      await listed(`&workspace=${app.workspaceId}`),
      await listed(`&workspace=${app.workspaceId}&app=${app.app.id}`),
    ],
  }
}

it('figures and lists have a run while it is active, and figures keep it at every moment of its end', async () => {
  const nothing = await seen()
  expect(nothing.ofApp[0]).toBe(0)
  const id = await start()
  await platform.drain()
  const active = await seen()
  expect(active).toEqual({
    ofApp: [1, 1, [1]],
    ofWorkspace: [1, 1, 1],
    ofPlatform: nothing.ofPlatform.map((n) => n + 1),
    active: nothing.active.map((n) => n + 1),
  })
  await cancel(id)
  const { active: _, ...uncounted } = active
  expect(await seen()).toMatchObject(uncounted)
  await platform.drain()
  expect(await seen()).toEqual({ ...uncounted, active: nothing.active })
  expect(await stats()).toMatchObject({ runs: 1, cancelled: 1, daily: [{}, { runs: 1, cancelled: 1 }] })
})

it('the figures of a person have their active run', async () => {
  const { id, name } = app.person.user
  const actor = { id, name }
  const { installation } = app
  await startRun(createWorkerWork(platform.deps), { installation, input: {}, trigger: 'manual', actor })
  await platform.drain()
  expect(await analytics()).toMatchObject({ runs: 1, by_person: [{ user_id: app.person.user.id, runs: 1 }] })
})

it('a run that is counted while figures are read is in them once', async () => {
  const { table } = platform.deps
  for (const [runs, read] of [
    [1, stats],
    [2, analytics],
  ] as const) {
    const id = await start()
    await platform.drain()
    await cancel(id)
    let listed = 0
    const { get, query } = table
    table.query = (async (...given: Parameters<typeof query>) => {
      if (given[0].name === ActiveRunEntity.name) listed++
      return query.apply(table, given)
    }) as typeof query
    let counted = false
    table.get = (async (...given: Parameters<typeof get>) => {
      if (listed > 0 && !counted) {
        counted = true
        await platform.drain()
      }
      return get.apply(table, given)
    }) as typeof get
    expect(await read()).toMatchObject({ runs })
    Object.assign(table, { get, query })
    expect(counted).toBe(true)
  }
})

it('a run is counted once, although the worker that has to list it dies at any point and its message comes again', async () => {
  for (let n = 1; ; n++) {
    platform.clock.advance(MINUTE)
    app = await installed(platform.deps, { endpoint: agent.url })
    await adopt(platform, developer, app.app)
    const id = await start()
    const [message] = platform.messages.splice(0)
    const death = killAfter(platform, n)
    await platform.deliver(message as never)
    const reached = death.restore()
    await platform.deliver(message as never)
    await platform.drain()
    for (let i = 0; i < 4; i++) {
      platform.clock.advance(MINUTE)
      await platform.sweep()
      await platform.drain()
    }
    expect((await stats()).runs, `a death after ${n} effects`).toBe(1)
    expect((await platform.call('GET', `/api/v1/runs/${id}`, { token: await accessToken() })).status).toBe(200)
    await platform.call('POST', `/api/v1/runs/${id}/cancel`, { token: await accessToken() })
    await platform.drain()
    expect((await stats()).runs, `a death after ${n} effects, at its end`).toBe(1)
    if (!reached) break
    expect(n).toBeLessThan(40)
  }
})

it('a run that its dispatcher can’t list is listed by the statistics', async () => {
  await start()
  const { table } = platform.deps
  const { transact } = table
  let failed = 0
  table.transact = async (writes) => {
    if (writes[0]?.entity.name !== ActiveRunEntity.name || failed++ > 0) return transact.call(table, writes)
    throw new Error('the store is down')
  }
  await platform.drain()
  Object.assign(table, { transact })
  expect(failed).toBe(2)
  expect((await stats()).runs).toBe(1)
})
