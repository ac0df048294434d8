import * as z from 'zod'

/**
 * Message on the `delivery` queue that wakes a worker for one delivery. It holds the keys of all records that the
 * worker reads first, in one batch.
 */
export const DeliveryMessage = z.object({
  delivery_id: z.string(),
  webhook_id: z.string(),
  installation_id: z.string(),
  workspace_id: z.string(),
  app_id: z.string(),
  event_id: z.string(),
  /** The attempt to make. Messages for an attempt that was already made are dropped. */
  attempt: z.number().int(),
  /**
   * All webhooks that get the event, if none of their deliveries has a record before its first attempt. Until those have, the
   * event stays due.
   */
  unrecorded: z.array(z.string()).optional(),
  /** The event's number in the feed, which whoever settles the event records. */
  feed_n: z.number().int().optional(),
})

export type DeliveryMessage = z.infer<typeof DeliveryMessage>
