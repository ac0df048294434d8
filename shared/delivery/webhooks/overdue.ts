import { nextCheckAt } from '#shared/foundation/overdue/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { ifUnchanged, type Key } from '#shared/table/entity.ts'
import { type Delivery, DeliveryEntity } from './entity.ts'
import { wakeMessage } from './schedule.ts'

/** Wakes a worker again for an overdue delivery. */
export const handleOverdueDelivery = async (work: WorkerWork, key: Key): Promise<void> => {
  const delivery = await work.table.getByKey(DeliveryEntity, key)
  const now = work.clock.now()
  if (delivery?.due_at === undefined || delivery.due_at > now) return
  if (delivery.status !== 'pending') return checkAgain(work, delivery, undefined)
  if ((delivery.leased_until ?? 0) > now) return checkAgain(work, delivery, delivery.leased_until)
  await work.queues.send('delivery', [wakeMessage(delivery)])
  await checkAgain(work, delivery, nextCheckAt(now, delivery.next_attempt_at ?? now))
}

const checkAgain = async (work: WorkerWork, delivery: Delivery, due_at: number | undefined): Promise<void> => {
  // A worker may have claimed it in the meantime.
  await ifUnchanged(
    work.commit([DeliveryEntity.update(delivery, { set: { due_at } }, { where: { due_at: delivery.due_at } })]),
  )
}
