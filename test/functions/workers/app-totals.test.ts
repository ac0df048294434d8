import { expect, it } from 'vitest'
import { countEvents } from '#shared/insight/statistics/count.ts'
import { AppDayEntity } from '#shared/insight/statistics/entity.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { appFigures } from '#testkit/app-figures.ts'
import { dice } from '#testkit/dice.ts'
import type { Installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { appsOf, createStatisticsTable, eventsOf, runOf } from './statistics-support.ts'

const platform = usingPlatform()

it('an app’s total has every run once, however old it was when it ended, and whoever reads meanwhile', async () => {
  const roll = dice(7)
  const [app] = (await appsOf(platform, 1)) as [Installed]
  const world = await createStatisticsTable(platform, { apps: [app], runs: [] })
  const deps = { table: world.table, clock: platform.clock }
  const expected = { runs: 0, succeeded: 0, failed: 0, cancelled: 0 }
  let folds = 0
  const { transact } = world.table
  world.table.transact = async (writes) => {
    if (writes.some(({ changes }) => (changes?.set as { through?: string } | undefined)?.through)) folds++
    return transact.call(world.table, writes)
  }
  for (let day = 0; day < 60; day++) {
    platform.clock.advance(DAY)
    for (let i = 0; i < 2; i++) {
      // Some runs are weeks old when their events are handled, and some of these come late.
      const ended = platform.clock.now() - (roll.chance(0.1) ? roll.below(30) * DAY : 0)
      const created = ended - (roll.chance(0.3) ? roll.below(40) * DAY : 40)
      const status = roll.chance(0.5) ? 'succeeded' : 'failed'
      const run = runOf(app, created, { status, finished_at: ended })
      await world.table.transact([RunEntity.create(run)])
      const events = eventsOf(run)
      const counting = countEvents(world.work, events)
      if (roll.chance(0.3)) await Promise.all([appFigures(deps, app.app.id), appFigures(deps, app.app.id)])
      expect(await counting).toEqual(new Map())
      if (roll.chance(0.2)) await countEvents(world.work, events)
      expected.runs++
      expected[status]++
    }
    if (roll.chance(0.4)) expect(await appFigures(deps, app.app.id)).toEqual(expected)
  }
  await appFigures(deps, app.app.id)
  expect(await appFigures(deps, app.app.id)).toEqual(expected)
  expect(folds).toBeGreaterThan(10)
})

it('a reader of an app’s total reads the days of two weeks, however long the app has been there', async () => {
  const [app] = (await appsOf(platform, 1)) as [Installed]
  const world = await createStatisticsTable(platform, { apps: [app], runs: [] })
  const deps = { table: world.table, clock: platform.clock }
  for (let day = 0; day < 100; day++) {
    platform.clock.advance(DAY)
    const run = runOf(app, platform.clock.now())
    await world.table.transact([RunEntity.create(run)])
    await countEvents(world.work, eventsOf(run))
  }
  expect((await appFigures(deps, app.app.id)).runs).toBe(100)
  const { query } = world.table
  let days = 0
  world.table.query = (async (...given: Parameters<typeof query>) => {
    const page = await query.apply(world.table, given)
    if (given[0].name === AppDayEntity.name) days += page.items.length
    return page
  }) as typeof query
  expect((await appFigures(deps, app.app.id)).runs).toBe(100)
  expect(days).toBeGreaterThan(7)
  // One more in each of four shards: the last day that is part of the total.
  expect(days).toBeLessThanOrEqual(14 + 4)
})
