import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

/** What is counted for the whole platform. Runs of sandboxes are in `runs`, and by themselves in `sandbox_runs`. */
export const PLATFORM_COUNTERS = [
  'runs',
  'sandbox_runs',
  'succeeded',
  'failed',
  'cancelled',
  'cost_units',
  'installed',
  'uninstalled',
  'developers',
  'apps',
  'workspaces',
  'deliveries_succeeded',
  'deliveries_failed',
] as const

export type PlatformCounter = (typeof PLATFORM_COUNTERS)[number]

const platformHour = () =>
  z
    .object({
      shard: z.number(),
      /** In UTC: `2026-11-21T10`. */
      hour: z.string(),
    })
    .catchall(z.union([z.string(), z.number()]))

/**
 * One shard of what happened on the platform in one hour. Beside the fields above it holds numbers under
 * {@link platformField}. An item of an hour is small, so that counting costs the least that a write can; quarters of an hour
 * within it are what every time zone's days can be put together from.
 */
export type PlatformHour = z.infer<ReturnType<typeof platformHour>>

export const PlatformHourEntity = defineEntity<PlatformHour>()({
  name: 'platform-hour',
  schema: platformHour,
  pk: 'PSTATS#{shard}',
  sk: 'HOUR#{hour}',
})

/** @param quarter 0–3, counted from the hour's beginning */
export const platformField = (counter: PlatformCounter, quarter: number): string => `${counter}_${quarter}`

const platformNow = () => z.object({ shard: z.number(), active_runs: z.number() })

/** One shard of how many runs were created and have not ended. */
export const PlatformNowEntity = defineEntity<z.infer<ReturnType<typeof platformNow>>>()({
  name: 'platform-now',
  schema: platformNow,
  pk: 'PNOW',
  sk: 'SHARD#{shard}',
})
