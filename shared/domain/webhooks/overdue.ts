import { type Delivery, DeliveryEntity } from '../../entities/webhooks.ts'
import { ifUnchanged, type Key } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import { nextLook } from '../events/overdue.ts'
import { wake } from './schedule.ts'

/** What the sweep does about a delivery whose attempt was not made in time: wakes a worker again. */
export const handleOverdueDelivery = async (work: WorkerWork, key: Key): Promise<void> => {
  const delivery = await work.table.getByKey(DeliveryEntity, key)
  const now = work.clock.now()
  if (delivery?.due_at === undefined || delivery.due_at > now) return
  if (delivery.status !== 'pending') return lookAgain(work, delivery, undefined)
  if ((delivery.leased_until ?? 0) > now) return lookAgain(work, delivery, delivery.leased_until)
  await work.queues.send('delivery', [wake(delivery)])
  await lookAgain(work, delivery, nextLook(now, delivery.next_attempt_at ?? now))
}

const lookAgain = async (work: WorkerWork, delivery: Delivery, due_at: number | undefined): Promise<void> => {
  // Or a worker is faster.
  await ifUnchanged(
    work.commit([DeliveryEntity.update(delivery, { set: { due_at } }, { where: { due_at: delivery.due_at } })]),
  )
}
