import type { OutboxEvent } from '../../entities/events.ts'
import type { WorkerWork } from '../deps.ts'

/** EventBridge takes 256 KB per call (PutEvents quotas); the rest of an entry and its escaping needs room too. */
const CALL_BYTES = 200_000

/** Events at most in a call of EventBridge. */
const CALL_EVENTS = 10

/**
 * Puts outbox events on the bus, in their order.
 * @returns the index of the first that was not taken; all from it on are to come again
 */
export const relayEvents = async (
  { bus, log }: Pick<WorkerWork, 'bus' | 'log'>,
  events: readonly OutboxEvent[],
): Promise<number | undefined> => {
  let done = 0
  for (const call of calls(events)) {
    try {
      const [refused] = (await bus.put(call)).toSorted((a, b) => a - b)
      if (refused !== undefined) return done + refused
    } catch (error) {
      log.error('events were not relayed', { first: call[0]?.id, count: call.length, error })
      return done
    }
    done += call.length
  }
  return undefined
}

/** Splits by count and by size: data of 64 KiB can double when its text is escaped inside the entry. */
const calls = (events: readonly OutboxEvent[]): OutboxEvent[][] => {
  const split: OutboxEvent[][] = []
  let bytes = 0
  for (const event of events) {
    const size = Buffer.byteLength(JSON.stringify(event))
    const last = split.at(-1)
    if (last && last.length < CALL_EVENTS && bytes + size <= CALL_BYTES) {
      last.push(event)
      bytes += size
    } else {
      split.push([event])
      bytes = size
    }
  }
  return split
}
