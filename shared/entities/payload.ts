import * as z from 'zod'
import { DAY } from '../kernel/clock.ts'
import type { Retention } from '../table/entity.ts'

/**
 * A JSON value as text, or its place in the bucket when it is over 16 KiB. Text, because a DynamoDB map takes neither
 * every number nor every depth that JSON has.
 */
export const payload = () =>
  z.union([z.object({ json: z.string() }), z.object({ object: z.string(), bytes: z.number() })])

export type StoredPayload = z.infer<ReturnType<typeof payload>>

/**
 * When a record goes that belongs to a run: with its payloads. Those in the bucket are stored after `created_at`, and kept for as
 * many days and until the next midnight: a record never names one that is gone.
 */
export const withPayloads = ({ created_at }: { created_at: number }, { payloadDays }: Retention): number =>
  created_at + payloadDays * DAY
