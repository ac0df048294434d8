import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import type { AppLog } from './entity.ts'

/** Statuses of runs in an app's log. */
export const FINISHED = ['succeeded', 'failed', 'cancelled'] as const

/** Filters of an app's log. */
export interface LogFilter {
  run_id?: string | undefined
  request_id?: string | undefined
  error_code?: string | undefined
  status?: (typeof FINISHED)[number] | undefined
  installation_id?: string | undefined
  version?: string | undefined
  place?: 'customers' | 'sandbox' | undefined
  since?: number | undefined
  until?: number | undefined
}

/** They can be combined. */
export const logFilters = () => ({
  run_id: z.string().min(1).max(64).optional(),
  request_id: z.string().min(1).max(64).optional().meta({ description: 'The request that started the run.' }),
  error_code: z.string().min(1).max(200).optional(),
  status: z.enum(FINISHED).optional(),
  installation_id: z.string().min(1).max(64).optional(),
  version: z.string().min(1).max(64).optional(),
  place: z.enum(['customers', 'sandbox']).optional().meta({ description: 'Where the run took place.' }),
  since: timeFilter().meta({ description: 'Created at this time or later.', example: '2026-11-21T00:00:00Z' }),
  until: timeFilter().meta({ description: 'Created at this time or earlier.', example: '2026-11-22T00:00:00Z' }),
})

/** @returns epoch milliseconds */
const timeFilter = () =>
  z
    .string()
    .refine((text) => !Number.isNaN(Date.parse(text)), 'must be a time, such as 2026-11-21T10:15:30Z')
    .transform((text) => Date.parse(text))
    .optional()

/** A finished run in its app's log, without inputs and outputs. */
export const AppLogSchema = () =>
  z
    .object({
      run_id: idField('run'),
      request_id: idField('req').nullable(),
      installation_id: idField('ins'),
      version: z.string(),
      trigger: z.string(),
      status: z.enum(FINISHED),
      error_code: z.string().nullable(),
      duration_ms: z.number().int(),
      is_sandbox: z.boolean(),
      created_at: time(),
      finished_at: time(),
    })
    .meta({ id: 'AppLog' })

export type AppLogView = z.infer<ReturnType<typeof AppLogSchema>>

export const presentLog = (log: AppLog): AppLogView => ({
  run_id: log.run_id,
  request_id: log.request_id ?? null,
  installation_id: log.installation_id,
  version: log.version,
  trigger: log.trigger,
  status: log.status as AppLogView['status'],
  error_code: log.error_code ?? null,
  duration_ms: log.duration_ms,
  is_sandbox: log.is_sandbox,
  created_at: iso(log.created_at),
  finished_at: iso(log.finished_at),
})

const count = () => z.number().int()

const percentiles = () =>
  z
    .object({
      p50: count().nullable().meta({ description: 'Upper bound in milliseconds. Null if over 300000.' }),
      p95: count().nullable().meta({ description: 'Upper bound in milliseconds. Null if over 300000.' }),
    })
    .nullable()
    .meta({ description: 'Null if no run succeeded or failed.' })

const block = () => ({
  installations: count().meta({ description: 'Current installations.' }),
  runs: count(),
  succeeded: count(),
  failed: count(),
  cancelled: count(),
  success_rate: z.number().nullable().meta({
    description:
      'Share of succeeded runs among those that succeeded or failed, to four decimals. Null if there are none.',
    example: 0.975,
  }),
  duration_ms: z
    .object({
      average: count(),
      p50: count().nullable().meta({ description: 'Upper bound in milliseconds. Null if over 300000.' }),
      p95: count().nullable().meta({ description: 'Upper bound in milliseconds. Null if over 300000.' }),
    })
    .nullable()
    .meta({ description: 'Duration of runs that succeeded or failed.' }),
})

/** `GET /api/v1/dev/apps/{id}/stats`. */
export const AppStatsSchema = () =>
  z
    .object({
      app_id: idField('app'),
      ...block(),
      sandbox: z
        .object(block())
        .meta({ description: 'Usage in sandbox workspaces, including test runs. Not included in the other figures.' }),
      daily: z.array(
        z.object({
          date: z.string().meta({ description: 'Date in UTC.', example: '2026-11-21' }),
          installed: count(),
          removed: count(),
          runs: count(),
          succeeded: count(),
          failed: count(),
          cancelled: count(),
          duration_ms: percentiles(),
        }),
      ),
      versions: z
        .array(
          z.object({
            version: z.string().meta({ example: '1.2.0' }),
            installed: count(),
            runs: count(),
            succeeded: count(),
            failed: count(),
            cancelled: count(),
            success_rate: z.number().nullable(),
            duration_ms: percentiles(),
          }),
        )
        .meta({ description: 'Of the days in `daily`, newest version first. Counted since November 2026.' }),
    })
    .meta({ id: 'AppStats' })

export type AppStatsView = z.infer<ReturnType<typeof AppStatsSchema>>

/** Query of the statistics. */
export const statsQuery = () =>
  z.strictObject({
    days: z
      .string()
      .regex(/^[1-9]\d?$/, 'must be an integer from 1 to 90')
      .transform(Number)
      .pipe(z.number().max(90, 'must be an integer from 1 to 90'))
      .default(30)
      .meta({ description: 'Number of days in `daily`, ending today.', example: '30' }),
  })
