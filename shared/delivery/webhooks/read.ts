import { matchesMask } from '#shared/foundation/outbox/index.ts'
import { cutPageToResponseSize } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Page } from '#shared/table/table.ts'
import { type Delivery, DeliveryEntity, type DeliveryStatus, type Subscription, SubscriptionEntity } from './entity.ts'
import { statusOf } from './present.ts'

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

export interface DeliveryFilter {
  /** As readers see it, see {@link statusOf}. */
  status?: DeliveryStatus | undefined
  /** Type masks; all types if omitted. */
  types?: readonly string[] | undefined
}

/** Deliveries examined for one page, so that a rare one costs many short reads instead of one unbounded read. */
const LOOKED_AT = 1_000

/** Deliveries read at once while looking for those that match. */
const BATCH = 100

/**
 * Lists a subscription's deliveries of the last 30 days, newest first. With a filter, a page can have fewer deliveries than its
 * limit, or none, while more follow.
 */
export const listDeliveries = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  webhook: Subscription,
  options: { limit: number; after?: string | undefined },
  filter: DeliveryFilter = {},
): Promise<Page<Delivery>> => {
  const from = deliveryKeyAt(deps.clock.now() - LIMITS.deliveryLife)
  const read = (limit: number, after: string | undefined) =>
    deps.table.query(DeliveryEntity, { webhook_id: webhook.id }, { limit, after, from })
  const { status, types } = filter
  const isWanted = (delivery: Delivery): boolean =>
    (status === undefined || statusOf(delivery, webhook) === status) &&
    (types === undefined || matchesMask(types, delivery.event_type))
  const page =
    status === undefined && types === undefined
      ? await read(options.limit, options.after)
      : await findDeliveries(read, isWanted, options)
  return cutPageToResponseSize(
    page,
    ({ attempts }) => Buffer.byteLength(JSON.stringify(attempts)),
    (delivery) => DeliveryEntity.key(delivery).sk,
  )
}

/** Reads batch after batch until a page is full, or enough was examined. */
const findDeliveries = async (
  read: (limit: number, after: string | undefined) => Promise<Page<Delivery>>,
  isWanted: (delivery: Delivery) => boolean,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<Page<Delivery>> => {
  const items: Delivery[] = []
  let next = after
  for (let looked = 0; looked < LOOKED_AT; looked += BATCH) {
    const batch = await read(BATCH, next)
    for (const delivery of batch.items) {
      if (!isWanted(delivery)) continue
      items.push(delivery)
      if (items.length < limit) continue
      const isLast = batch.next === undefined && delivery === batch.items.at(-1)
      return { items, next: isLast ? undefined : DeliveryEntity.key(delivery).sk }
    }
    next = batch.next
    if (next === undefined) break
  }
  return { items, next }
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
