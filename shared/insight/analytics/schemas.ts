import * as z from 'zod'
import { idField } from '#shared/foundation/schemas/index.ts'

/** Accepts IANA names only. Intl also accepts offsets, but an offset's midnight may lie within a quarter of an hour. */
const isTimeZone = (name: string): boolean => {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** Query of `GET /console/analytics`. */
export const analyticsQuery = () =>
  z.strictObject({
    days: z
      .string()
      .regex(/^[1-9]\d?$/, 'must be an integer from 1 to 90')
      .transform(Number)
      .pipe(z.number().max(90, 'must be an integer from 1 to 90'))
      .default(30)
      .meta({ description: 'Number of days, ending today.', example: '30' }),
    tz: z
      .string()
      .max(64)
      .refine(isTimeZone, 'must be an IANA time zone, such as Europe/Zurich')
      .default('UTC')
      .meta({ description: 'The IANA time zone of the days.', example: 'Europe/Zurich' }),
  })

const count = () => z.number().int()

const amount = () => z.number().meta({ description: 'Sum over runs that ended.' })

const tokens = () => count().meta({ description: 'Tokens of language models, as far as agents report them.' })

const outcomes = () => ({
  runs: count().meta({ description: 'Number of runs created.' }),
  succeeded: count(),
  failed: count(),
  cancelled: count(),
})

const figures = () => ({
  ...outcomes(),
  success_rate: z.number().nullable().meta({
    description:
      'Share of succeeded runs among those that succeeded or failed, to four decimals. Null if there are none.',
    example: 0.975,
  }),
  duration_ms: z
    .object({
      average: count(),
      median: count().nullable().meta({ description: 'Upper bound in milliseconds. Null if over 300000.' }),
    })
    .nullable()
    .meta({ description: 'Duration of runs that succeeded or failed.' }),
  cost_units: amount(),
  tokens: tokens(),
})

/** `GET /console/analytics`. */
export const AnalyticsSchema = () =>
  z
    .object({
      time_zone: z.string(),
      from: z.string().meta({ description: 'First day of the period.', example: '2026-10-23' }),
      to: z.string().meta({ description: 'Last day of the period, which is today.', example: '2026-11-21' }),
      ...figures(),
      daily: z
        .array(
          z.object({
            date: z.string().meta({ example: '2026-11-21' }),
            ...outcomes(),
            cost_units: amount(),
            tokens: tokens(),
          }),
        )
        .meta({ description: 'Runs count on the day they were created, their outcomes on the day they ended.' }),
      by_agent: z
        .array(
          z.object({
            installation_id: idField('ins'),
            name: z.string().nullable(),
            ...figures(),
          }),
        )
        .meta({ description: 'Agents with runs in the period, busiest first, at most 100.' }),
      by_person: z
        .array(
          z.object({
            user_id: idField('usr'),
            name: z.string().nullable(),
            ...outcomes(),
            cost_units: amount(),
            tokens: tokens(),
          }),
        )
        .meta({
          description:
            'People whose runs began or ended in the period, busiest first, at most 100. Runs that agents asked for on ' +
            'their behalf count as theirs. Counted since this field exists.',
        }),
      agents: z.object({
        installed: count().meta({ description: 'Agents currently installed.' }),
        active: count().meta({ description: 'Agents with a run in the period.' }),
      }),
      approvals_pending: count().meta({ description: 'Runs currently awaiting approval.' }),
      tasks: z
        .object({ todo: count(), in_progress: count(), discuss: count(), review: count(), done: count() })
        .meta({ description: 'Current number of tasks by status.' }),
    })
    .meta({ id: 'WorkspaceAnalytics' })

export type AnalyticsView = z.infer<ReturnType<typeof AnalyticsSchema>>
