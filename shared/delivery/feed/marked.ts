import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { missing } from '#shared/table/expressions.ts'
import type { Table } from '#shared/table/table.ts'
import { FeedEntryEntity, FeedHeadEntity, FeedMarkEntity } from './entity.ts'

/**
 * Appends events as the version before does, in one transaction. The head advances on condition that it hasn't changed
 * since it was read, so numbers have no gaps and are assigned once. Entries and marks are created, so an event appears in
 * the feed once. Once an entry was appended without the head, the head's next number is taken, and no transaction succeeds.
 * @throws {ConditionFailed} if another worker appended at the same time
 */
export const appendWithMarks = async (
  table: Table,
  installation_id: string,
  events: readonly OutboxEvent[],
): Promise<void> => {
  const [head, ...marks] = await table.getAll([
    FeedHeadEntity.ref({ installation_id }),
    ...events.map(({ id }) => FeedMarkEntity.ref({ installation_id, event_id: id })),
  ] as const)
  const fresh = events.filter((_, i) => marks[i] === undefined)
  if (fresh.length === 0) return
  const last = head?.n ?? 0
  await table.transact([
    FeedHeadEntity.replace({ installation_id, n: last + fresh.length }, { where: { n: head?.n ?? missing } }),
    ...fresh.flatMap(({ id: event_id, type, created_at }, i) => {
      const n = last + 1 + i
      return [
        FeedEntryEntity.create({ installation_id, n, event_id, type, created_at }),
        FeedMarkEntity.create({ installation_id, event_id, n, created_at }),
      ]
    }),
  ])
}
