import { SECOND } from '../kernel/clock.ts'
import { StreamAnswer } from './answer.ts'

/** One event of a stream (HTML standard, "Server-sent events"). */
export interface ServerSentEvent {
  /** What a client sends as `Last-Event-ID` when it connects again; without one the last stays. */
  id?: string
  event: string
  data: object
}

/** Connections that nothing comes over are cut on the way: CloudFront after 60 seconds, many proxies after 30. */
const PING = 15 * SECOND

/**
 * Answers with events as they come.
 * @param events each event, or undefined now and then while there is none
 */
export const eventStream = (
  events: (signal: AbortSignal) => AsyncIterable<ServerSentEvent | undefined>,
): StreamAnswer =>
  new StreamAnswer(
    200,
    { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    (signal) => lines(events(signal)),
  )

async function* lines(events: AsyncIterable<ServerSentEvent | undefined>): AsyncGenerator<string> {
  yield 'retry: 1000\n\n'
  let sent = performance.now()
  for await (const one of events) {
    if (!one && performance.now() - sent < PING) continue
    sent = performance.now()
    yield one ? textOf(one) : ': still here\n\n'
  }
}

/** JSON has no line breaks of its own, so the data is one line. */
const textOf = ({ id, event, data }: ServerSentEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
