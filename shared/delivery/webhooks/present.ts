import { iso } from '#shared/kernel/clock.ts'
import type { Delivery, DeliveryStatus, Subscription } from './entity.ts'
import type { DeliveryView, WebhookView } from './schemas.ts'

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))

/** Presents the subscription without its secrets. */
export const presentWebhook = (webhook: Subscription): WebhookView => ({
  id: webhook.id,
  url: webhook.url,
  events: webhook.events,
  description: webhook.description,
  filter: webhook.filter ?? null,
  max_per_minute: webhook.max_per_minute ?? null,
  status: webhook.status,
  last_error: webhook.last_error,
  consecutive_failures: webhook.consecutive_failures,
  created_at: iso(webhook.created_at),
  disabled_at: isoOrNull(webhook.disabled_at),
})

/**
 * Returns true for a delivery that is still pending in its record but whose subscription was disabled since. Disabling
 * increments the generation instead of writing to each delivery.
 */
export const isOutdated = (delivery: Delivery, { generation, status }: Subscription): boolean =>
  delivery.status === 'pending' && !delivery.test && (status === 'disabled' || delivery.generation < generation)

/** Returns the status that readers see. */
export const statusOf = (delivery: Delivery, webhook: Subscription): DeliveryStatus =>
  isOutdated(delivery, webhook) ? 'skipped' : delivery.status

export const presentDelivery = (delivery: Delivery, webhook: Subscription): DeliveryView => {
  const status = statusOf(delivery, webhook)
  return {
    id: delivery.id,
    event_id: delivery.event_id,
    event_type: delivery.event_type,
    status,
    attempt: delivery.attempt,
    next_attempt_at: isoOrNull(status === 'skipped' ? null : delivery.next_attempt_at),
    created_at: iso(delivery.created_at),
    attempts: delivery.attempts.map((attempt) => ({ ...attempt, at: iso(attempt.at) })),
  }
}
