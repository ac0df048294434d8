import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { recordRunEvent } from '#shared/work/runs/index.ts'
import type { Delivering } from './fan-out.ts'

/**
 * Creates the record of a new run's event. The run stays due instead of the event, which saves two writes to the index of what
 * is due.
 * @returns what to deliver, or undefined if the event had a record
 */
export const recordRunCreated = async (work: WorkerWork, created: OutboxEvent): Promise<Delivering | undefined> => {
  const event = { ...created, due_at: undefined, is_held: true as const }
  return (await recordRunEvent(work, event)) ? { event, isNew: true } : undefined
}
