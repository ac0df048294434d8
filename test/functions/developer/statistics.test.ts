import { beforeEach, describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { FeedEntryEntity } from '#shared/delivery/feed/entity.ts'
import { OutboxEntity } from '#shared/foundation/outbox/entity.ts'
import { emitEvent } from '#shared/foundation/outbox/outbox.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { AppLogEntity } from '#shared/insight/statistics/entity.ts'
import { adopt, newDeveloper, type TestDeveloper } from '#testkit/developers.ts'
import { type Installed, installed } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { succeeds } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const DAY = 86_400_000

let developer: TestDeveloper
let app: Installed
const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(async () => {
  // Noon, so that a test's minutes stay within one day.
  platform.clock.advance(DAY - (platform.clock.now() % DAY) + DAY / 2)
  developer = await newDeveloper(platform)
  app = await installed(platform.deps, { endpoint: agent.url })
  await adopt(platform, developer, app.app)
})

const answers = (body: Record<string, unknown>) => agent.answer(succeeds(body))

/** Runs an agent from start to end. */
const run = async () => {
  const { installation, grant } = app
  const claims = { ins: installation.id, ws: app.workspaceId, app: app.app.id, grt: grant.id, sv: 1 }
  const { token } = await issueToken(platform.deps, 'access', claims)
  const { body, headers } = await platform.call('POST', '/api/v1/runs', { token, body: { input: { secret: 'input' } } })
  await platform.drain()
  return { id: body.id as string, requestId: headers['x-request-id'] as string, token }
}

const stats = (query = '') => succeeded(developer.call('GET', `/api/v1/dev/apps/${app.app.id}/stats${query}`))
const logs = (query = '') => succeeded(developer.call('GET', `/api/v1/dev/apps/${app.app.id}/logs${query}`))

const emitInstallationEvent = (type: 'installation.created' | 'installation.removed') =>
  platform.deps.table.transact([
    emitEvent(platform.clock, {
      type,
      workspace_id: app.workspaceId,
      app_id: app.app.id,
      data: { installation_id: app.installation.id, app_id: app.app.id, status: 'active', scopes: [] },
    }),
  ])

const sandbox = () =>
  platform.deps.table.transact([
    InstallationEntity.update(
      { workspace_id: app.workspaceId, id: app.installation.id },
      { set: { is_sandbox: true } },
    ),
  ])

describe('an app’s statistics', () => {
  it('count runs, outcomes, durations and installations, in total, by day and by version', async () => {
    await emitInstallationEvent('installation.created')
    answers({})
    await run()
    await run()
    answers({ status: 'failed', error_code: 'no_stock', error_message: 'None.' })
    await run()
    platform.clock.advance(DAY)
    answers({})
    await run()
    await emitInstallationEvent('installation.removed')
    await platform.drain()
    const body = await stats('?days=3')
    expect(body).toMatchObject({
      app_id: app.app.id,
      installations: 0,
      runs: 4,
      succeeded: 3,
      failed: 1,
      cancelled: 0,
      success_rate: 0.75,
      duration_ms: { average: expect.any(Number), p50: expect.any(Number), p95: expect.any(Number) },
      sandbox: { installations: 0, runs: 0, success_rate: null, duration_ms: null },
    })
    const today = new Date(platform.clock.now()).toISOString().slice(0, 10)
    expect(body.daily.map(({ runs }: { runs: number }) => runs)).toEqual([0, 3, 1])
    expect(body.daily[2]).toEqual({
      date: today,
      installed: 0,
      removed: 1,
      runs: 1,
      succeeded: 1,
      failed: 0,
      cancelled: 0,
      duration_ms: { p50: expect.any(Number), p95: expect.any(Number) },
    })
    expect(body.daily[0].duration_ms).toBeNull()
    const durations = { p50: expect.any(Number), p95: expect.any(Number) }
    const counted = { installed: 1, runs: 4, succeeded: 3, failed: 1, cancelled: 0, success_rate: 0.75 }
    expect(body.versions).toEqual([{ version: '1.0.0', ...counted, duration_ms: durations }])
    const lastDay = await stats('?days=1')
    expect(lastDay.versions).toMatchObject([{ version: '1.0.0', installed: 0, runs: 1, failed: 0, success_rate: 1 }])
    expect(await stats()).toMatchObject({ daily: { length: 30 } })
  })

  it('count sandbox workspaces separately, including test runs', async () => {
    await sandbox()
    await emitInstallationEvent('installation.created')
    answers({})
    await run()
    const body = await stats('?days=1')
    expect(body).toMatchObject({ installations: 0, runs: 0, succeeded: 0, success_rate: null })
    expect(body.sandbox).toMatchObject({ installations: 1, runs: 1, succeeded: 1, success_rate: 1 })
    expect(body.daily[0]).toMatchObject({ runs: 0, installed: 0 })
    expect((await logs()).items).toMatchObject([{ is_sandbox: true }])
  })

  it('count an event once, however often and concurrently it is delivered', async () => {
    answers({})
    await run()
    const { items } = await platform.deps.table.query(
      FeedEntryEntity,
      { installation_id: app.installation.id },
      { limit: 10 },
    )
    for (const { event_id } of items) {
      const event = (await platform.deps.table.get(OutboxEntity, { id: event_id })) ?? expect.fail('no event')
      const message = {
        queue: 'statistics' as const,
        body: { 'detail-type': event.type, detail: event },
        dueAt: 0,
        group: undefined,
      }
      expect(await Promise.all(Array.from({ length: 5 }, () => platform.deliver(message)))).toEqual(Array(5).fill(true))
    }
    expect(items).toHaveLength(2)
    expect(await stats()).toMatchObject({ runs: 1, succeeded: 1 })
    expect((await logs()).items).toHaveLength(1)
  })

  it('are counted by the redelivered message when a worker died before its write', async () => {
    answers({})
    const { table } = platform.deps
    const transact = table.transact.bind(table)
    let deaths = 0
    table.transact = async (writes) => {
      if (writes.some(({ entity }) => entity.name === 'app-day') && deaths++ < 3) throw new Error('died')
      return transact(writes)
    }
    await run()
    table.transact = transact
    expect(deaths).toBeGreaterThan(3)
    expect(await stats()).toMatchObject({ runs: 1, succeeded: 1 })
  })

  it('need the same number of reads for many runs as for few', async () => {
    const { table } = platform.deps
    const reads = async () => {
      const [query, getAll] = [table.query, table.getAll]
      let count = 0
      table.query = ((...given: Parameters<typeof query>) => {
        count++
        return query.apply(table, given)
      }) as typeof query
      table.getAll = ((...given: Parameters<typeof getAll>) => {
        count++
        return getAll.apply(table, given)
      }) as typeof getAll
      await stats()
      Object.assign(table, { query, getAll })
      return count
    }
    answers({})
    const few = await reads()
    for (let i = 0; i < 12; i++) await run()
    expect([await reads(), (await stats()).runs]).toEqual([few, 12])
  })

  it('require a number of days from 1 to 90', async () => {
    for (const days of ['0', '91', '1.5', 'x', '-1']) {
      const { status } = await developer.call('GET', `/api/v1/dev/apps/${app.app.id}/stats?days=${days}`)
      expect(status, days).toBe(422)
    }
  })
})

describe('an app’s log', () => {
  it('contains finished runs, newest first, without input and output', async () => {
    answers({ output: { text: 'confidential' } })
    const first = await run()
    platform.clock.advance(1_000)
    answers({ status: 'failed', error_code: 'no_stock', error_message: 'confidential' })
    const second = await run()
    const body = await logs()
    expect(body.items).toEqual([
      {
        run_id: second.id,
        request_id: second.requestId,
        installation_id: app.installation.id,
        version: '1.0.0',
        trigger: 'api',
        status: 'failed',
        error_code: 'no_stock',
        duration_ms: expect.any(Number),
        is_sandbox: false,
        created_at: expect.any(String),
        finished_at: expect.any(String),
      },
      expect.objectContaining({ run_id: first.id, request_id: first.requestId, status: 'succeeded', error_code: null }),
    ])
    expect(JSON.stringify(body)).not.toMatch(/confidential|secret/)
  })

  it('is filtered by run, request, error code, status, version, installation, place and time, in any combination', async () => {
    answers({})
    const good = await run()
    platform.clock.advance(1_000)
    answers({ status: 'failed', error_code: 'no stock/ä#1', error_message: 'None.' })
    const bad = await run()
    const found = async (query: Record<string, string>) =>
      (await logs(`?${new URLSearchParams(query)}`)).items.map(({ run_id }: { run_id: string }) => run_id)
    expect(await found({ run_id: good.id })).toEqual([good.id])
    expect(await found({ request_id: bad.requestId })).toEqual([bad.id])
    expect(await found({ error_code: 'no stock/ä#1' })).toEqual([bad.id])
    expect(await found({ status: 'succeeded' })).toEqual([good.id])
    expect(await found({ status: 'cancelled' })).toEqual([])
    expect(await found({ run_id: 'run_x#~' })).toEqual([])
    const [log] = (await logs(`?run_id=${bad.id}`)).items
    const { installation_id, version, created_at } = log
    expect(await found({ status: 'failed', error_code: 'no stock/ä#1', version, installation_id })).toEqual([bad.id])
    expect(await found({ status: 'succeeded', error_code: 'no stock/ä#1' })).toEqual([])
    expect(await found({ run_id: bad.id, status: 'succeeded' })).toEqual([])
    expect(await found({ version, place: 'customers' })).toEqual([bad.id, good.id])
    expect(await found({ place: 'sandbox' })).toEqual([])
    expect(await found({ version: '9.9.9' })).toEqual([])
    expect(await found({ installation_id: 'ins_x' })).toEqual([])
    expect(await found({ since: created_at })).toEqual([bad.id])
    expect(await found({ until: new Date(Date.parse(created_at) - 1).toISOString() })).toEqual([good.id])
    const wrong = await developer.call('GET', `/api/v1/dev/apps/${app.app.id}/logs?since=yesterday`)
    expect(wrong.status).toBe(422)
  })

  it('is searched page by page, without missing or repeating a match', async () => {
    const ids: string[] = []
    for (let i = 0; i < 6; i++) {
      answers(i % 2 ? {} : { status: 'failed', error_code: 'odd', error_message: 'Odd.' })
      const { id } = await run()
      if (i % 2 === 0) ids.unshift(id)
      platform.clock.advance(1_000)
    }
    const { version } = (await logs(`?run_id=${ids[0]}`)).items[0]
    const search = `limit=2&version=${version}&error_code=odd`
    const first = await logs(`?${search}`)
    const next = await logs(`?${search}&cursor=${first.next_cursor}`)
    expect([...first.items, ...next.items].map(({ run_id }: { run_id: string }) => run_id)).toEqual(ids)
    expect([first.items.length, first.has_more, next.has_more]).toEqual([2, true, false])
  })

  it('is paginated, even within a search', async () => {
    answers({})
    for (let i = 0; i < 3; i++) {
      await run()
      platform.clock.advance(1_000)
    }
    for (const search of ['', '&status=succeeded']) {
      const first = await logs(`?limit=2${search}`)
      const next = await logs(`?limit=2${search}&cursor=${first.next_cursor}`)
      expect([first.items.length, first.has_more, next.items.length, next.has_more]).toEqual([2, true, 1, false])
    }
  })

  it('are spread over partitions, and show each run once', async () => {
    answers({})
    const ids: string[] = []
    for (let i = 0; i < 12; i++) {
      ids.unshift((await run()).id)
      platform.clock.advance(1_000)
    }
    const shards = Array.from({ length: 4 }, (_, shard) => `STATUS#succeeded#${shard}`)
    const own = await Promise.all(
      shards.map((list) => platform.deps.table.query(AppLogEntity, { app_id: app.app.id, list }, { limit: 20 })),
    )
    expect(own.filter(({ items }) => items.length > 0).length).toBeGreaterThan(1)
    const copies = own.flatMap(({ items }) => items)
    expect(copies).toHaveLength(12)
    const pages: string[] = []
    let cursor: string | undefined
    do {
      const page = await logs(`?limit=5&status=succeeded${cursor ? `&cursor=${cursor}` : ''}`)
      pages.push(...page.items.map(({ run_id }: { run_id: string }) => run_id))
      cursor = page.next_cursor
    } while (cursor)
    expect(pages).toEqual(ids)
    for (const { run_id } of copies.slice(0, 2))
      expect((await logs(`?run_id=${run_id}`)).items.map((entry: { run_id: string }) => entry.run_id)).toEqual([run_id])
  })
})
