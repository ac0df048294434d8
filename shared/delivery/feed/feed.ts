import { setImmediate } from 'node:timers/promises'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { Table } from '#shared/table/table.ts'
import { type Appended, type Appending, appendEntry } from './append.ts'
import { EVENTS_PER_ENTRY } from './entity.ts'

interface Waiting extends Appending {
  /** @param settled the event's record is no longer due */
  resolve(finished: boolean): void
  reject(error: unknown): void
}

/** Appends of this instance that wait while another append to the same feed is being written. */
const queues = new WeakMap<Table, Map<string, Waiting[]>>()

/**
 * Appends an event to an installation's feed under the next number. Idempotent.
 *
 * Appends of one instance to one feed queue up and are written together. Otherwise, events of one installation that
 * arrive at once would all compete for the next number. Instances still compete with each other.
 * @returns true if it was finished, so that it is no longer due
 */
export const appendToFeed = (table: Table, installationId: string, appending: Appending): Promise<boolean> => {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const feeds = queues.get(table) ?? new Map<string, Waiting[]>()
  queues.set(table, feeds)
  const queue = feeds.get(installationId)
  const waiting = { ...appending, resolve, reject }
  if (queue) queue.push(waiting)
  else {
    const begun = [waiting]
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
  // Events that arrive together, such as the start and the end of a run, share an entry.
  await setImmediate()
  while (queue.length > 0) {
    const together = queue.splice(0, EVENTS_PER_ENTRY)
    try {
      const appended = await writeEvents(table, installationId, together)
      for (const { event, resolve, reject } of together) {
        const result = appended.get(event.id)
        if (result?.status === 'rejected') reject(result.reason)
        else resolve(result?.value === true)
      }
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
  }
  close()
}

const writeEvents = (table: Table, installation_id: string, appending: readonly Appending[]): Promise<Appended> => {
  const distinct = [...new Map(appending.map((one) => [one.event.id, one])).values()].sort(
    (a, b) => a.event.created_at - b.event.created_at,
  )
  return retryOnConflict(() => appendEntry(table, installation_id, distinct))
}
