import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge'
import type { EventBus } from '../domain/ports.ts'
import type { OutboxEvent } from '../entities/events.ts'

/** EventBridge's limits for one request: entries, and bytes of all together (256 KB, with a margin for the fields around). */
const MAX_ENTRIES = 10
const MAX_BYTES = 240_000

/** Puts events on the bus, as many in a request as it takes. Ends at the first request that was not taken whole. */
export const createBus = (busName: string | undefined): EventBus => {
  let client: EventBridgeClient | undefined
  /** @returns the place of the first entry that was not taken */
  const send = async (entries: PutEventsRequestEntry[]): Promise<{ refused: number; error?: unknown }> => {
    client ??= new EventBridgeClient({ maxAttempts: 4 })
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
      if (!busName) throw new Error('this function may not put events')
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

const requests = (events: readonly OutboxEvent[], busName: string): PutEventsRequestEntry[][] => {
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
