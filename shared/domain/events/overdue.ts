import { OutboxEntity } from '../../entities/events.ts'
import { HOUR, MINUTE } from '../../kernel/clock.ts'
import { ifUnchanged, type Key } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'

/** When to look again: after a minute, then after as long again as it has been waiting, at most an hour. */
export const nextLook = (now: number, waitingSince: number): number =>
  now + Math.min(HOUR, Math.max(MINUTE, now - waitingSince))

/** An event that nobody fanned out in time goes on the bus again: it, or its message, was lost. */
export const handleOverdueEvent = async (work: WorkerWork, key: Key): Promise<void> => {
  const event = await work.table.getByKey(OutboxEntity, key)
  const now = work.clock.now()
  if (event?.due_at === undefined || event.due_at > now) return
  const { taken, error } = await work.bus.put([event])
  if (taken === 0) throw new Error(`the bus did not take the event ${event.id}`, { cause: error })
  // Or it is fanned out in the same moment.
  await ifUnchanged(
    work.commit([
      OutboxEntity.update(
        event,
        { set: { due_at: nextLook(now, event.created_at) } },
        { where: { due_at: event.due_at } },
      ),
    ]),
  )
}
