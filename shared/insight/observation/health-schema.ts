import * as z from 'zod'
import { time } from '#shared/foundation/schemas/index.ts'

const measured = () => z.number().nullable()

/** `GET /admin/health`. */
export const HealthSchema = () =>
  z
    .object({
      status: z.enum(['ok', 'degraded', 'failing']).meta({
        description:
          '`failing`: customers are affected and it won’t recover by itself (requests fail with a 5xx; runs, events or webhooks are ' +
          'delayed; the sweeper is down). `degraded`: a part doesn’t work. `ok`: no known problems.',
      }),
      reasons: z
        .array(
          z.object({
            alarm: z.string().nullable().meta({
              description: 'Name of the alarm in CloudWatch. Null for problems found without an alarm.',
              example: 'Platform-prod-Operations-AlarmsFanoutAge1A2B3C4D-ABCDEFGHIJKL',
            }),
            severity: z.enum(['degraded', 'failing']),
            message: z.string().meta({ example: 'FanoutAge: The oldest message of fanout waits for 5 minutes.' }),
            since: time().nullable(),
          }),
        )
        .meta({ description: 'Reasons why the status isn’t `ok`, most severe first.' }),
      queues: z
        .array(
          z.object({
            name: z.string().meta({ example: 'fanout' }),
            waiting: measured().meta({ description: 'Messages not yet received by a worker.' }),
            oldest_age_seconds: measured(),
          }),
        )
        .meta({
          description: 'Values are null if not measured in the last 15 minutes, for example for an idle queue.',
        }),
      dead_letters: z.array(z.object({ name: z.string().meta({ example: 'failed' }), messages: measured() })),
      stream: z.object({
        lag_ms: measured().meta({ description: 'Delay until the newest changes were published as events.' }),
      }),
      table: z
        .object({ read_throttles: measured(), write_throttles: measured() })
        .meta({ description: 'Requests throttled in the last 15 minutes.' }),
      functions: z.object({ errors: measured(), throttles: measured() }).meta({
        description:
          'Invocations that failed, and those that the account had no concurrency for, in the last 15 minutes. Null if there were none.',
      }),
      api: z.object({
        server_errors: measured().meta({ description: 'Responses with a 5xx in the last 15 minutes.' }),
      }),
      last_sweep: z
        .object({
          at: time(),
          age_seconds: z.number().int(),
          found: z.number().int().meta({ description: 'Overdue records found.' }),
          failed: z.number().int(),
          oldest_ms: z.number().int().meta({ description: 'Time since the oldest of them was due, in milliseconds.' }),
        })
        .nullable()
        .meta({ description: 'The sweeper’s latest run. Null before the first.' }),
      as_of: time().meta({ description: 'Time at which the alarms were read.' }),
    })
    .meta({ id: 'PlatformHealth' })

export type HealthView = z.infer<ReturnType<typeof HealthSchema>>
