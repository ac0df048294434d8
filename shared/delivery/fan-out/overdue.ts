import { OutboxEntity } from '#shared/foundation/outbox/index.ts'
import { nextCheckAt } from '#shared/foundation/overdue/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { ifUnchanged, type Key } from '#shared/table/entity.ts'

/** Publishes an overdue event on the bus again. The event or its message was lost. */
export const handleOverdueEvent = async (work: WorkerWork, key: Key): Promise<void> => {
  const event = await work.table.getByKey(OutboxEntity, key)
  const now = work.clock.now()
  if (event?.due_at === undefined || event.due_at > now) return
  const { taken, error } = await work.bus.put([event])
  if (taken === 0) throw new Error(`the bus did not take the event ${event.id}`, { cause: error })
  // Another worker may fan it out at the same moment.
  await ifUnchanged(
    work.commit([
      OutboxEntity.update(
        event,
        { set: { due_at: nextCheckAt(now, event.created_at) } },
        { where: { due_at: event.due_at } },
      ),
    ]),
  )
}
