import * as z from 'zod'

/**
 * A JSON value as text, or its place in the bucket when it is over 16 KiB. Text, because a DynamoDB map takes neither
 * every number nor every depth that JSON has.
 */
export const payload = () =>
  z.union([z.object({ json: z.string() }), z.object({ object: z.string(), bytes: z.number() })])

export type StoredPayload = z.infer<ReturnType<typeof payload>>
