import { FeedEntryEntity, FeedHeadEntity, FeedMarkEntity, type OutboxEvent } from '../../entities/events.ts'
import { backoff } from '../../table/backoff.ts'
import { ConditionFailed } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { Table } from '../../table/table.ts'

/** Events per transaction: each takes two of the 100 writes that one may have, the head takes one. */
const TOGETHER = 40

/** Tries of one transaction; with full jitter up to 0.4 seconds, about five seconds in all. */
const TRIES = 30

interface Waiting {
  event: OutboxEvent
  resolve(): void
  reject(error: unknown): void
}

/** Appends that wait while another one to the same feed is being written, by this instance. */
const lines = new WeakMap<Table, Map<string, Waiting[]>>()

/**
 * Appends an event to an installation's feed under the next number, once however often it is called.
 *
 * Appends of one instance to one feed line up and go together: many events of one installation that arrive at the same
 * time would otherwise compete for the next number, each with all others. Instances still compete with each other.
 */
export const appendToFeed = (table: Table, installationId: string, event: OutboxEvent): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const feeds = lines.get(table) ?? new Map<string, Waiting[]>()
  lines.set(table, feeds)
  const line = feeds.get(installationId)
  if (line) line.push({ event, resolve, reject })
  else {
    const begun = [{ event, resolve, reject }]
    feeds.set(installationId, begun)
    void serve(table, installationId, begun, () => feeds.delete(installationId))
  }
  return promise
}

/** @param close called in the same breath as the line is seen empty, so that nobody lines up behind its end */
const serve = async (table: Table, installationId: string, line: Waiting[], close: () => void): Promise<void> => {
  while (line.length > 0) {
    const together = line.splice(0, TOGETHER)
    try {
      await write(
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
 * One transaction: the head moves on from the number that was read, under that condition, so that numbers have no gap and
 * are given once; entries and marks are created, so that an event stands in the feed once.
 */
const write = async (table: Table, installation_id: string, events: OutboxEvent[]): Promise<void> => {
  const distinct = [...new Map(events.map((event) => [event.id, event])).values()].sort((a, b) =>
    a.id < b.id ? -1 : 1,
  )
  for (let tries = 1; ; tries++) {
    const [head, ...marks] = await table.getAll([
      { entity: FeedHeadEntity, key: FeedHeadEntity.key({ installation_id }) },
      ...distinct.map(({ id }) => ({
        entity: FeedMarkEntity,
        key: FeedMarkEntity.key({ installation_id, event_id: id }),
      })),
    ] as const)
    const fresh = distinct.filter((_, i) => marks[i] === undefined)
    if (fresh.length === 0) return
    const last = head?.n ?? 0
    try {
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
      return
    } catch (error) {
      if (!(error instanceof ConditionFailed) || tries >= TRIES) throw error
      await backoff(tries)
    }
  }
}
