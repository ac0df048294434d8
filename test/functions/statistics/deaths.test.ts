import { beforeAll, expect, it } from 'vitest'
import { countEvents } from '#shared/domain/statistics/count.ts'
import { ObservedRunEntity } from '#shared/entities/observed-runs.ts'
import { RunEntity } from '#shared/entities/runs.ts'
import type { Installed } from '#test/support/fixtures.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { appsOf, eventsOf, type Place, place, runEvent, runOf } from './world.ts'

const platform = usingPlatform()
let app: Installed
beforeAll(async () => {
  ;[app] = (await appsOf(platform, 1)) as [Installed]
})

class Died extends Error {}

/** Lets a worker die at its n-th write: before it, or when it is done. @returns whether it came so far */
const dying = async ({ table }: Place, n: number, when: 'before' | 'after', act: () => Promise<unknown>) => {
  const { transact, getAll, get } = table
  let writes = 0
  let dead = false
  const alive = () => {
    if (dead) throw new Died()
  }
  table.transact = async (given) => {
    alive()
    writes++
    dead ||= writes === n
    if (writes === n && when === 'before') throw new Died()
    await transact.call(table, given)
    alive()
  }
  table.getAll = ((...given: Parameters<typeof getAll>) => {
    alive()
    return getAll.apply(table, given)
  }) as typeof getAll
  table.get = ((...given: Parameters<typeof get>) => {
    alive()
    return get.apply(table, given)
  }) as typeof get
  await act().catch(() => undefined)
  Object.assign(table, { transact, getAll, get })
  return writes >= n
}

it.each(['before', 'after'] as const)(
  'a worker that dies %s any of its writes leaves nothing out, and counts nothing twice',
  async (when) => {
    const runs = [runOf(app, platform.clock.now()), runOf(app, platform.clock.now(), { status: 'running' })]
    const events = runs.flatMap(eventsOf)
    const once = await place(platform, { apps: [app], runs })
    await countEvents(once.work, events)
    const expected = await once.counted()
    for (let n = 1; ; n++) {
      const world = await place(platform, { apps: [app], runs })
      const died = await dying(world, n, when, () => countEvents(world.work, events))
      expect(await countEvents(world.work, events)).toEqual(new Map())
      expect(await world.counted(), `dead at write ${n}`).toEqual(expected)
      if (!died) break
      expect(n).toBeLessThan(30)
    }
  },
)

it('a run that ends while its beginning is being told of is found as ended only', async () => {
  const running = runOf(app, platform.clock.now(), { status: 'running' })
  const world = await place(platform, { apps: [app], runs: [running] })
  const { table } = world
  const transact = table.transact.bind(table)
  let ended = false
  table.transact = async (writes) => {
    if (!ended && writes[0]?.entity === ObservedRunEntity) {
      ended = true
      // The other worker is done with the end before this one writes what it read.
      const finished_at = running.created_at + 1_000
      await transact([RunEntity.update(running, { set: { status: 'succeeded', finished_at } })])
      expect(await countEvents(world.work, [runEvent('run.succeeded', running)])).toEqual(new Map())
    }
    return transact(writes)
  }
  expect(await countEvents(world.work, [runEvent('run.created', running)])).toEqual(new Map())
  expect(ended).toBe(true)
  const { items } = await table.query(ObservedRunEntity, { workspace_id: running.workspace_id }, { limit: 10 })
  expect(items.map(({ state }) => state)).toEqual(['succeeded'])
})

it('a run that is removed with its workspace meanwhile is found nowhere', async () => {
  const run = runOf(app, platform.clock.now())
  const world = await place(platform, { apps: [app], runs: [run] })
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
