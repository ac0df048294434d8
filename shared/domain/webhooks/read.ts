import { type Delivery, DeliveryEntity, type Subscription, SubscriptionEntity } from '../../entities/webhooks.ts'
import { fail } from '../../kernel/errors.ts'
import { idFloor } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Page } from '../../table/table.ts'
import { fittingPage } from '../answer-size.ts'
import type { Deps } from '../deps.ts'

/** @throws `not_found` also for a subscription of another installation: its key cannot be built from this one's id */
export const loadWebhook = async (
  { table }: Pick<Deps, 'table'>,
  installation_id: string,
  id: string,
): Promise<Subscription> => {
  const webhook = await table.get(SubscriptionEntity, { installation_id, id })
  if (!webhook) throw noWebhook()
  return webhook
}

export const noWebhook = () => fail('not_found', { message: 'There is no such webhook subscription.' })

/** An installation's subscriptions, newest first. */
export const listWebhooks = (
  { table }: Pick<Deps, 'table'>,
  installation_id: string,
  options: { limit: number; after?: string | undefined },
): Promise<Page<Subscription>> => table.query(SubscriptionEntity, { installation_id }, options)

/** The bound between deliveries of events before this time and those after it. */
export const boundAt = (ms: number): string => DeliveryEntity.prefix + idFloor('delivery', Math.max(0, ms))

/** A subscription's deliveries of the last 30 days, newest first. */
export const listDeliveries = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { id }: Subscription,
  options: { limit: number; after?: string | undefined },
): Promise<Page<Delivery>> => {
  const from = boundAt(deps.clock.now() - LIMITS.deliveryLife)
  const page = await deps.table.query(DeliveryEntity, { webhook_id: id }, { ...options, from })
  return fittingPage(
    page,
    ({ attempts }) => Buffer.byteLength(JSON.stringify(attempts)),
    (delivery) => DeliveryEntity.key(delivery).sk,
  )
}

/** @throws `not_found` for one of another subscription, or older than 30 days */
export const loadDelivery = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  webhook: Subscription,
  id: string,
): Promise<Delivery> => {
  const delivery = await table.get(DeliveryEntity, { webhook_id: webhook.id, id })
  if (!delivery || delivery.created_at + LIMITS.deliveryLife <= clock.now()) {
    throw fail('not_found', { message: 'There is no such delivery.' })
  }
  return delivery
}
