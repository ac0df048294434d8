import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import type { EventBus } from '../domain/ports.ts'

/** EventBridge's limits for one request: entries, and bytes of all together (256 KB, with a margin for the fields around). */
const MAX_ENTRIES = 10
const MAX_BYTES = 240_000

/** Puts events on the bus. @returns the indexes of those that were not taken */
export const createBus = (busName: string | undefined): EventBus => {
  let client: EventBridgeClient | undefined
  return {
    async put(events) {
      if (!busName) throw new Error('this function may not put events')
      client ??= new EventBridgeClient({ maxAttempts: 4 })
      const failed: number[] = []
      for (const batch of inBatches(events.map((event) => ({ type: event.type, detail: JSON.stringify(event) })))) {
        const { Entries = [] } = await client.send(
          new PutEventsCommand({
            Entries: batch.entries.map(({ type, detail }) => ({
              EventBusName: busName,
              Source: 'platform',
              DetailType: type,
              Detail: detail,
            })),
          }),
        )
        for (const [n, entry] of Entries.entries()) if (entry.ErrorCode) failed.push(batch.from + n)
      }
      return failed
    },
  }
}

interface Entry {
  type: string
  detail: string
}

const inBatches = (entries: Entry[]): { from: number; entries: Entry[] }[] => {
  const batches: { from: number; entries: Entry[]; bytes: number }[] = []
  for (const [i, entry] of entries.entries()) {
    const bytes = Buffer.byteLength(entry.detail) + entry.type.length + 64
    const last = batches.at(-1)
    if (last && last.entries.length < MAX_ENTRIES && last.bytes + bytes <= MAX_BYTES) {
      last.entries.push(entry)
      last.bytes += bytes
    } else batches.push({ from: i, entries: [entry], bytes })
  }
  return batches
}
