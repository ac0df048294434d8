import { OutboxEntity } from '#shared/foundation/outbox/index.ts'
import type { OverdueHandler } from '#shared/foundation/overdue/index.ts'

/** Returns a handler of overdue events that ends their being due, and adds their partitions to a list. */
export const handlingEvents = (handled: string[]): OverdueHandler => ({
  entity: OutboxEntity,
  handle: async (work, key) => {
    handled.push(key.pk)
    await work.table.transact([
      { kind: 'update', entity: OutboxEntity, key, changes: { set: { due_at: undefined } }, where: {} },
    ])
  },
})
