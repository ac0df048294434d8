/**
 * Takes the place of `@smithy/core/event-streams` in the bundles (15 KB). Event streams are a framing that a few operations answer
 * in (S3 `SelectObjectContent`, Kinesis `SubscribeToShard`); no operation that the platform calls is among them, and the SDK
 * reaches this module only from an operation whose schema says so.
 */

const refuse = (): never => {
  throw new Error('Event stream operations are not part of the bundles: see infra/bundle/no-event-streams.ts')
}

/** Would frame and unframe an operation's event stream. */
export class EventStreamSerde {
  constructor() {
    refuse()
  }
}

/** Would make the marshaller that a client keeps for its event streams; S3's client makes one when it is constructed. */
export const eventStreamSerdeProvider = () => ({ serialize: refuse, deserialize: refuse })

/** Configures a client that has event stream operations. */
export function resolveEventStreamSerdeConfig<T extends object>(input: T) {
  return Object.assign(input, { eventStreamMarshaller: eventStreamSerdeProvider() })
}
