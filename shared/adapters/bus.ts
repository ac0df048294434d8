import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import type { EventBus } from '../domain/ports.ts'

/** Puts events on the bus, ten at a time. @returns the indexes of those that were not taken */
export const createBus = (busName: string | undefined): EventBus => {
  let client: EventBridgeClient | undefined
  return {
    async put(events) {
      if (!busName) throw new Error('this function may not put events')
      client ??= new EventBridgeClient({ maxAttempts: 4 })
      const failed: number[] = []
      for (let i = 0; i < events.length; i += 10) {
        const { Entries = [] } = await client.send(
          new PutEventsCommand({
            Entries: events.slice(i, i + 10).map((event) => ({
              EventBusName: busName,
              Source: 'platform',
              DetailType: event.type,
              Detail: JSON.stringify(event),
            })),
          }),
        )
        for (const [n, entry] of Entries.entries()) if (entry.ErrorCode) failed.push(i + n)
      }
      return failed
    },
  }
}
