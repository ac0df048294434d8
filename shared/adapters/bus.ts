import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge'
import { AWS_CALLS, withoutUserAgent } from '../kernel/aws-calls.ts'
import type { BusEvent, EventBus } from '../kernel/ports/bus.ts'

/**
 * EventBridge's limits for one request: number of entries, and total bytes (256 KB, with a margin for the fields around
 * them).
 */
const MAX_ENTRIES = 10
const MAX_BYTES = 240_000

/**
 * Creates the event bus. It publishes events in the largest possible requests and stops at the first request that is
 * not accepted whole.
 */
export const createBus = (busName: string | undefined): EventBus => {
  let client: EventBridgeClient | undefined
  /**
   * Sends one request.
   * @returns the index of the first entry that was not accepted
   */
  const send = async (entries: PutEventsRequestEntry[]): Promise<{ refused: number; error?: unknown }> => {
    client ??= withoutUserAgent(new EventBridgeClient(AWS_CALLS))
    try {
      const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: entries }))
      const refused = Entries.findIndex(({ ErrorCode }) => ErrorCode !== undefined)
      return refused < 0 ? { refused: entries.length } : { refused, error: Entries[refused]?.ErrorCode }
    } catch (error) {
      return { refused: 0, error }
    }
  }
  return {
    async put(events) {
      if (!busName) throw new Error('this function may not publish events')
      let taken = 0
      for (const entries of requests(events, busName)) {
        const { refused, error } = await send(entries)
        taken += refused
        if (refused < entries.length) return { taken, error }
      }
      return { taken }
    },
  }
}

const requests = (events: readonly BusEvent[], busName: string): PutEventsRequestEntry[][] => {
  const split: PutEventsRequestEntry[][] = []
  let bytes = 0
  for (const event of events) {
    const entry = {
      EventBusName: busName,
      Source: 'platform',
      DetailType: event.type,
      Detail: JSON.stringify(event),
    }
    const size = Buffer.byteLength(entry.Detail) + event.type.length + 64
    const last = split.at(-1)
    if (last && last.length < MAX_ENTRIES && bytes + size <= MAX_BYTES) {
      last.push(entry)
      bytes += size
    } else {
      split.push([entry])
      bytes = size
    }
  }
  return split
}
