import * as z from 'zod'
import { DAY } from '#shared/kernel/clock.ts'
import type { Retention } from '#shared/table/entity.ts'

/**
 * Schema of a JSON value stored as text, or as an object in the bucket above 16 KiB. A DynamoDB map can't hold every
 * number and depth of JSON.
 */
export const payload = () =>
  z.union([z.object({ json: z.string() }), z.object({ object: z.string(), bytes: z.number() })])

export type StoredPayload = z.infer<ReturnType<typeof payload>>

/**
 * Returns the expiry of a record that belongs to a run, which is the expiry of its payloads. The bucket stores payloads
 * after `created_at` and keeps them until the midnight after the same number of days. So a record never names a deleted
 * object.
 */
export const payloadExpiry = ({ created_at }: { created_at: number }, { payloadDays }: Retention): number =>
  created_at + payloadDays * DAY
