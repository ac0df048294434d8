import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { Table } from '#shared/table/table.ts'
import { FeedEntryEntity, FeedHeadEntity, FeedMarkEntity } from './entity.ts'

/** Events per transaction. Each takes two of the 100 writes that a transaction may have, and the head takes one. */
const TOGETHER = 40

interface Waiting {
  event: OutboxEvent
  resolve(): void
  reject(error: unknown): void
}

/** Appends of this instance that wait while another append to the same feed is being written. */
const queues = new WeakMap<Table, Map<string, Waiting[]>>()

/**
 * Appends an event to an installation's feed under the next number. Idempotent.
 *
 * Appends of one instance to one feed queue up and are written together. Otherwise, events of one installation that
 * arrive at once would all compete for the next number. Instances still compete with each other.
 */
export const appendToFeed = (table: Table, installationId: string, event: OutboxEvent): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const feeds = queues.get(table) ?? new Map<string, Waiting[]>()
  queues.set(table, feeds)
  const queue = feeds.get(installationId)
  if (queue) queue.push({ event, resolve, reject })
  else {
    const begun = [{ event, resolve, reject }]
    feeds.set(installationId, begun)
    void drainQueue(table, installationId, begun, () => feeds.delete(installationId))
  }
  return promise
}

/**
 * Writes a line of waiting appends until it is empty.
 * @param close called synchronously when the line is empty, so that no append can join a line that has ended
 */
const drainQueue = async (table: Table, installationId: string, queue: Waiting[], close: () => void): Promise<void> => {
  while (queue.length > 0) {
    const together = queue.splice(0, TOGETHER)
    try {
      await writeEvents(
        table,
        installationId,
        together.map(({ event }) => event),
      )
      for (const { resolve } of together) resolve()
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
  }
  close()
}

/**
 * Writes events in one transaction. The head advances on condition that it hasn't changed since it was read, so numbers
 * have no gaps and are assigned once. Entries and marks are created, so an event appears in the feed once.
 */
const writeEvents = async (table: Table, installation_id: string, events: OutboxEvent[]): Promise<void> => {
  const distinct = [...new Map(events.map((event) => [event.id, event])).values()].sort((a, b) =>
    a.id < b.id ? -1 : 1,
  )
  return retryOnConflict(async () => {
    const [head, ...marks] = await table.getAll([
      FeedHeadEntity.ref({ installation_id }),
      ...distinct.map(({ id }) => FeedMarkEntity.ref({ installation_id, event_id: id })),
    ] as const)
    const fresh = distinct.filter((_, i) => marks[i] === undefined)
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
  })
}
