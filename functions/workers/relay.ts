import { unmarshall } from '@aws-sdk/util-dynamodb'
import { relayEvents } from '#shared/delivery/fan-out/index.ts'
import { OutboxEntity } from '#shared/foundation/outbox/index.ts'
import type { StreamWorker } from '#shared/http/worker.ts'

/** An item of a stream record, in the wire format. */
type Image = Parameters<typeof unmarshall>[0]

/** Publishes the outbox to the bus. No other code publishes events. */
export const worker: StreamWorker = {
  name: 'relay',
  source: { kind: 'stream', entity: OutboxEntity.name, without: 'carried', setsAside: true },
  needs: ['bus:put'],
  timeoutSeconds: 30,
  async handle(work, records) {
    const images = records.map(({ dynamodb }) => unmarshall((dynamodb?.NewImage ?? {}) as Image))
    const events = images.map((image) => OutboxEntity.schema().safeParse(image))
    // An invalid event ends the batch here. Lambda sets it aside if it stays invalid.
    const bad = events.findIndex(({ success }) => !success)
    const good = bad < 0 ? events : events.slice(0, bad)
    // The source leaves carried events out, unless it is an emulator that can't.
    const relayed = good.flatMap(({ data }, at) => (data && !data.carried ? [{ event: data, at }] : []))
    const refused = await relayEvents(
      work,
      relayed.map(({ event }) => event),
    )
    const first = refused === undefined ? (bad < 0 ? undefined : bad) : relayed[refused]?.at
    if (first === undefined) return []
    // Lambda resumes at the lowest reported number. All later records are redelivered.
    return [records[first]?.dynamodb?.SequenceNumber ?? '']
  },
}
