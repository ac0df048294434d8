import * as z from 'zod'

/**
 * Message on the `delivery` queue that wakes a worker for one delivery. It holds the keys of all records that the
 * worker reads first, in one batch.
 */
export const DeliveryMessage = z.object({
  kind: z.literal('delivery'),
  delivery_id: z.string(),
  webhook_id: z.string(),
  installation_id: z.string(),
  workspace_id: z.string(),
  app_id: z.string(),
  event_id: z.string(),
  /** The attempt to make. Messages for an attempt that was already made are dropped. */
  attempt: z.number().int(),
  /**
   * Present if the delivery gets its record with the first lease: all webhooks that get the event, and the event's number in the
   * feed, which is recorded when the event is settled.
   */
  first: z.object({ webhooks: z.array(z.string()), feed_n: z.number().int() }).optional(),
})

export type DeliveryMessage = z.infer<typeof DeliveryMessage>
