import * as z from 'zod'
import { time } from '../fields.ts'

const measured = () => z.number().nullable()

/** `GET /admin/health`. */
export const HealthSchema = () =>
  z
    .object({
      status: z.enum(['ok', 'degraded', 'failing']).meta({
        description:
          '`failing`: customers notice and it does not mend itself (requests answered with a 5xx; runs, events or webhooks that ' +
          'wait; no sweep). `degraded`: a part does not work. `ok`: nothing is known to be wrong.',
      }),
      reasons: z
        .array(
          z.object({
            alarm: z.string().nullable().meta({
              description: 'The alarm’s name in CloudWatch; null for what was found without one.',
              example: 'Platform-prod-Operations-AlarmsFanoutAge1A2B3C4D-ABCDEFGHIJKL',
            }),
            severity: z.enum(['degraded', 'failing']),
            message: z.string().meta({ example: 'FanoutAge: The oldest message of fanout waits for 5 minutes.' }),
            since: time().nullable(),
          }),
        )
        .meta({ description: 'Why it is not `ok`, the gravest first.' }),
      queues: z
        .array(
          z.object({
            name: z.string().meta({ example: 'fanout' }),
            waiting: measured().meta({ description: 'Messages that no worker has.' }),
            oldest_age_seconds: measured(),
          }),
        )
        .meta({
          description: 'Null throughout: not measured in the last 15 minutes, as of a queue that nothing came to.',
        }),
      dead_letters: z.array(z.object({ name: z.string().meta({ example: 'fanout-failed' }), messages: measured() })),
      stream: z.object({
        lag_ms: measured().meta({ description: 'How late the newest changes were told as events.' }),
      }),
      table: z
        .object({ read_throttles: measured(), write_throttles: measured() })
        .meta({ description: 'Requests that were throttled in the last 15 minutes.' }),
      functions: z
        .array(z.object({ name: z.string().meta({ example: 'api' }), errors: measured(), throttles: measured() }))
        .meta({ description: 'In the last 15 minutes.' }),
      api: z.object({ server_errors: measured().meta({ description: 'Answers with a 5xx in the last 15 minutes.' }) }),
      last_sweep: z
        .object({
          at: time(),
          age_seconds: z.number().int(),
          found: z.number().int().meta({ description: 'Records that were due and not done.' }),
          failed: z.number().int(),
          oldest_ms: z.number().int().meta({ description: 'How long the oldest of them had been due.' }),
        })
        .nullable()
        .meta({ description: 'The latest look for what is overdue; null before the first.' }),
      as_of: time(),
    })
    .meta({ id: 'PlatformHealth' })

export type HealthView = z.infer<ReturnType<typeof HealthSchema>>
