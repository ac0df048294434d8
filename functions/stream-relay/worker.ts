import { unmarshall } from '@aws-sdk/util-dynamodb'
import { relayEvents } from '#shared/domain/events/relay.ts'
import { OutboxEntity } from '#shared/entities/events.ts'
import type { StreamWorker } from '#shared/http/worker.ts'

/** What a stream carries, in the wire's form. */
type Image = Parameters<typeof unmarshall>[0]

/** Brings the outbox to the bus: the only one that publishes events. */
export const worker: StreamWorker = {
  name: 'stream-relay',
  source: { kind: 'stream' },
  needs: ['bus:put'],
  timeoutSeconds: 30,
  async handle(work, records) {
    const images = records.map(({ dynamodb }) => unmarshall((dynamodb?.NewImage ?? {}) as Image))
    const events = images.map((image) => OutboxEntity.schema().safeParse(image))
    // One that is no event ends the batch there, so that Lambda sets it aside when it stays so.
    const bad = events.findIndex(({ success }) => !success)
    const good = bad < 0 ? events : events.slice(0, bad)
    const refused = await relayEvents(
      work,
      good.flatMap(({ data }) => (data ? [data] : [])),
    )
    const first = refused ?? (bad < 0 ? undefined : bad)
    if (first === undefined) return []
    // Lambda goes on from the lowest number that is told; all after it come again.
    return [records[first]?.dynamodb?.SequenceNumber ?? '']
  },
}
