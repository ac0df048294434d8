import { beforeAll, expect, it } from 'vitest'
import type { OutboxEvent } from '#shared/foundation/outbox/entity.ts'
import { ActiveRunEntity, ObservedRunEntity } from '#shared/insight/observed-runs/entity.ts'
import { countEvents } from '#shared/insight/statistics/count.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import type { Installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { appsOf, createStatisticsTable, eventsOf, runEvent, runOf, type StatisticsTable } from './statistics-support.ts'

const platform = usingPlatform()
let app: Installed
beforeAll(async () => {
  ;[app] = (await appsOf(platform, 1)) as [Installed]
})

class Died extends Error {}

/** Crashes a worker before or after its n-th write. @returns whether it reached that write */
const dying = async ({ table }: StatisticsTable, n: number, when: 'before' | 'after', act: () => Promise<unknown>) => {
  const { transact, getAll, get } = table
  let writes = 0
  let dead = false
  const assertAlive = () => {
    if (dead) throw new Died()
  }
  table.transact = async (given) => {
    assertAlive()
    writes++
    dead ||= writes === n
    if (writes === n && when === 'before') throw new Died()
    await transact.call(table, given)
    assertAlive()
  }
  table.getAll = ((...given: Parameters<typeof getAll>) => {
    assertAlive()
    return getAll.apply(table, given)
  }) as typeof getAll
  table.get = ((...given: Parameters<typeof get>) => {
    assertAlive()
    return get.apply(table, given)
  }) as typeof get
  await act().catch(() => undefined)
  Object.assign(table, { transact, getAll, get })
  return writes >= n
}

it.each(['before', 'after'] as const)(
  'a worker that crashes %s any of its writes omits nothing, and counts nothing twice',
  async (when) => {
    const runs = [runOf(app, platform.clock.now()), runOf(app, platform.clock.now(), { status: 'running' })]
    const events = runs.flatMap(eventsOf)
    const once = await createStatisticsTable(platform, { apps: [app], runs })
    await countEvents(once.work, events)
    const expected = await once.counted()
    for (let n = 1; ; n++) {
      const world = await createStatisticsTable(platform, { apps: [app], runs })
      const died = await dying(world, n, when, () => countEvents(world.work, events))
      expect(await countEvents(world.work, events)).toEqual(new Map())
      expect(await world.counted(), `dead at write ${n}`).toEqual(expected)
      if (!died) break
      expect(n).toBeLessThan(30)
    }
  },
)

const sumsAndActive = async (world: StatisticsTable) => {
  const { sums, places } = await world.counted()
  return { sums, active: places.filter((place) => place.includes('active')) }
}

it('a run that ends while it is listed as active is listed as ended only', async () => {
  const running = runOf(app, platform.clock.now(), { status: 'running' })
  const world = await createStatisticsTable(platform, { apps: [app], runs: [running] })
  const { table } = world
  const transact = table.transact.bind(table)
  let ended = false
  table.transact = async (writes) => {
    if (!ended && writes[0]?.entity.name === ActiveRunEntity.name) {
      ended = true
      // The other worker has counted the end before this one writes what it read.
      const finished_at = running.created_at + 1_000
      await transact([RunEntity.update(running, { set: { status: 'succeeded', finished_at } })])
      expect(await countEvents(world.work, [runEvent('run.succeeded', running)])).toEqual(new Map())
    }
    return transact(writes)
  }
  expect(await countEvents(world.work, [runEvent('run.created', running)])).toEqual(new Map())
  expect(ended).toBe(true)
  expect((await sumsAndActive(world)).active).toEqual([])
  const { items } = await table.query(ObservedRunEntity, { workspace_id: running.workspace_id }, { limit: 10 })
  expect(items.map(({ state }) => state)).toEqual(['succeeded'])
})

it('a worker that crashes after it listed an ended run as active leaves no entry', async () => {
  const ended = runOf(app, platform.clock.now())
  const { finished_at, ...rest } = ended
  const records = { apps: [app], runs: [{ ...rest, status: 'running' as const }] }
  const world = await createStatisticsTable(platform, records)
  const { table } = world
  const [created, succeeded] = eventsOf(ended) as [OutboxEvent, OutboxEvent]
  const { transact } = table
  let died = false
  table.transact = async (writes) => {
    const files = !died && writes[0]?.entity.name === ActiveRunEntity.name
    if (files) {
      died = true
      await transact.call(table, [RunEntity.replace(ended)])
      expect(await countEvents(world.work, [succeeded])).toEqual(new Map())
    }
    await transact.call(table, writes)
    if (files) throw new Died()
  }
  expect((await countEvents(world.work, [created])).size).toBe(1)
  expect(died).toBe(true)
  expect(await countEvents(world.work, [created])).toEqual(new Map())
  expect((await sumsAndActive(world)).active).toEqual([])
  const { items } = await table.query(ObservedRunEntity, { workspace_id: ended.workspace_id }, { limit: 10 })
  expect(items.map(({ state }) => state)).toEqual(['succeeded'])
})

it('a run that is removed with its workspace in the meantime isn’t listed', async () => {
  const run = runOf(app, platform.clock.now())
  const world = await createStatisticsTable(platform, { apps: [app], runs: [run] })
  const { table } = world
  const transact = table.transact.bind(table)
  table.transact = async (writes) => {
    await transact(writes)
    if (writes[0]?.entity === ObservedRunEntity) await transact([RunEntity.delete(run)])
  }
  await countEvents(world.work, eventsOf(run))
  const { items } = await table.query(ObservedRunEntity, { workspace_id: run.workspace_id }, { limit: 10 })
  expect(items).toEqual([])
})
