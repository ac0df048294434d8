import { ROUND, runRemovalRound } from '#shared/lifecycle/removal/round.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { workOf } from '#test/functions/console/people-support.ts'
import type { TestPlatform } from '#testkit/platform.ts'

export { scanTables as scanTable } from '#testkit/contents.ts'

export const entityOf = (item: Record<string, unknown>): string => String(item[TABLE_LAYOUT.entity])

/** Runs one round of the worker. */
export const runRound = (platform: TestPlatform, limits: Partial<typeof ROUND> = {}): Promise<void> =>
  runRemovalRound(workOf(platform), { ...ROUND, ...limits })

/** Runs the first rounds after the grace period. No upload can arrive after the last one. */
export const runRemovalAfterGrace = async (
  platform: TestPlatform,
  limits: Partial<typeof ROUND> = {},
  rounds = 3,
): Promise<void> => {
  platform.clock.advance(14 * 86_400_000)
  for (let n = 0; n < rounds; n++) {
    await runRound(platform, limits)
    await platform.drain()
    platform.clock.advance(40 * 60_000)
    await platform.sweep()
    await platform.drain()
  }
}
