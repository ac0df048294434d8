import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const bucket = () =>
  z
    .object({ name: z.string(), tat: z.number(), expires_at: z.number() })
    .catchall(z.union([z.string(), z.number(), z.undefined()]))

export type StoredBucket = z.infer<ReturnType<typeof bucket>>

/**
 * Theoretical arrival time (GCRA) of a rate limit, in epoch ms. The bucket of an app also holds those of its installations, under
 * their ids, and that of its requests that wait. One that is missing is full.
 */
export const BucketEntity = defineEntity({
  name: 'bucket',
  schema: bucket,
  pk: 'RATE#{name}',
  sk: 'RATE',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 2 },
  expires: ({ expires_at }) => expires_at,
})

const openStreams = () => z.object({ caller: z.string(), open: z.array(z.string()), expires_at: z.number() })

/** Request ids of a caller's open streams, oldest first. */
export const OpenStreamsEntity = defineEntity({
  name: 'open-streams',
  schema: openStreams,
  pk: 'STREAMS#{caller}',
  sk: 'STREAMS',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 2 },
  expires: ({ expires_at }) => expires_at,
})

const dayBudget = () =>
  z.object({
    name: z.string(),
    day: z.string(),
    n: z.number(),
    /** True if somebody was notified that it is used up. */
    announced: z.boolean().optional(),
    expires_at: z.number(),
  })

/** Units of a daily budget that are spent, by UTC day. */
export const DayBudgetEntity = defineEntity({
  name: 'day-budget',
  schema: dayBudget,
  pk: 'BUDGET#{name}',
  sk: 'DAY#{day}',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 2 },
  expires: ({ expires_at }) => expires_at,
})
