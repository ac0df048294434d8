import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

/** Counters of the whole platform. Sandbox runs count in both `runs` and `sandbox_runs`. */
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
 * One shard of the platform's counts in one hour. Also holds a number under each {@link platformField}. An item per hour
 * stays small, so counting costs the minimum of a write. Days of any time zone are sums of quarters of an hour.
 */
export type PlatformHour = z.infer<ReturnType<typeof platformHour>>

export const PlatformHourEntity = defineEntity({
  name: 'platform-hour',
  schema: platformHour,
  pk: 'PSTATS#{shard}',
  sk: 'HOUR#{hour}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})

/** Returns the field of a counter in one quarter of the hour. @param quarter 0–3 */
export const platformField = (counter: PlatformCounter, quarter: number): string => `${counter}_${quarter}`
