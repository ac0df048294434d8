import * as z from 'zod'
import { idField } from '../fields.ts'

/** Intl takes an offset, too; that names no zone, and its midnight may lie within a quarter of an hour. */
const isTimeZone = (name: string): boolean => {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The query of the figures. */
export const analyticsQuery = () =>
  z.strictObject({
    days: z
      .string()
      .regex(/^[1-9]\d?$/, 'must be an integer from 1 to 90')
      .transform(Number)
      .pipe(z.number().max(90, 'must be an integer from 1 to 90'))
      .default(30)
      .meta({ description: 'Days that are looked at, today the last.', example: '30' }),
    tz: z
      .string()
      .max(64)
      .refine(isTimeZone, 'must be a time zone, such as Europe/Zurich')
      .default('UTC')
      .meta({ description: 'The time zone (IANA) whose days they are.', example: 'Europe/Zurich' }),
  })

const count = () => z.number().int()
const amount = () => z.number().meta({ description: 'Of runs that ended.' })

const outcomes = () => ({
  runs: count().meta({ description: 'Created.' }),
  succeeded: count(),
  failed: count(),
  cancelled: count(),
})

const figures = () => ({
  ...outcomes(),
  success_rate: z.number().nullable().meta({
    description: 'Succeeded of those that succeeded or failed, to four decimals; null while there is none.',
    example: 0.975,
  }),
  duration_ms: z
    .object({
      average: count(),
      median: count().nullable().meta({ description: 'At most so long; null: over 300000.' }),
    })
    .nullable()
    .meta({ description: 'Of runs that succeeded or failed.' }),
  cost_units: amount(),
})

/** `GET /console/analytics`. */
export const AnalyticsSchema = () =>
  z
    .object({
      time_zone: z.string(),
      from: z.string().meta({ description: 'The first day.', example: '2026-10-23' }),
      to: z.string().meta({ description: 'Today.', example: '2026-11-21' }),
      ...figures(),
      daily: z
        .array(z.object({ date: z.string().meta({ example: '2026-11-21' }), ...outcomes(), cost_units: amount() }))
        .meta({ description: 'By when a run was created, and by when it ended.' }),
      by_agent: z
        .array(
          z.object({
            installation_id: idField('ins'),
            name: z.string().nullable(),
            ...figures(),
          }),
        )
        .meta({ description: 'The agents with runs in these days, the busiest first, at most 100.' }),
      agents: z.object({
        installed: count().meta({ description: 'Now.' }),
        active: count().meta({ description: 'With a run in these days.' }),
      }),
      approvals_pending: count().meta({ description: 'Runs that wait for a person now.' }),
      tasks: z
        .object({ todo: count(), in_progress: count(), discuss: count(), review: count(), done: count() })
        .meta({ description: 'Now.' }),
    })
    .meta({ id: 'WorkspaceAnalytics' })

export type AnalyticsView = z.infer<ReturnType<typeof AnalyticsSchema>>
