import { cutPageToResponseSize } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Page } from '#shared/table/table.ts'
import { type Delivery, DeliveryEntity, type Subscription, SubscriptionEntity } from './entity.ts'

/**
 * Loads a subscription of the installation.
 * @throws `not_found`, also for another installation's subscription: its key can't be built from this installation's id
 */
export const loadWebhook = async (
  { table }: Pick<Deps, 'table'>,
  installation_id: string,
  id: string,
): Promise<Subscription> => {
  const webhook = await table.get(SubscriptionEntity, { installation_id, id })
  if (!webhook) throw webhookNotFound()
  return webhook
}

export const webhookNotFound = () => fail('not_found', { message: 'Webhook subscription not found.' })

/** Lists an installation's subscriptions, newest first. */
export const listWebhooks = (
  { table }: Pick<Deps, 'table'>,
  installation_id: string,
  options: { limit: number; after?: string | undefined },
): Promise<Page<Subscription>> => table.query(SubscriptionEntity, { installation_id }, options)

/** Returns the sort key between deliveries of events before this time and those after it. */
export const deliveryKeyAt = (ms: number): string => DeliveryEntity.prefix + idFloor('delivery', Math.max(0, ms))

/** Lists a subscription's deliveries of the last 30 days, newest first. */
export const listDeliveries = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { id }: Subscription,
  options: { limit: number; after?: string | undefined },
): Promise<Page<Delivery>> => {
  const from = deliveryKeyAt(deps.clock.now() - LIMITS.deliveryLife)
  const page = await deps.table.query(DeliveryEntity, { webhook_id: id }, { ...options, from })
  return cutPageToResponseSize(
    page,
    ({ attempts }) => Buffer.byteLength(JSON.stringify(attempts)),
    (delivery) => DeliveryEntity.key(delivery).sk,
  )
}

/**
 * Loads a delivery of the subscription.
 * @throws `not_found` for another subscription's delivery, or one older than 30 days
 */
export const loadDelivery = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  webhook: Subscription,
  id: string,
): Promise<Delivery> => {
  const delivery = await table.get(DeliveryEntity, { webhook_id: webhook.id, id })
  if (!delivery || delivery.created_at + LIMITS.deliveryLife <= clock.now()) {
    throw fail('not_found', { message: 'Delivery not found.' })
  }
  return delivery
}
