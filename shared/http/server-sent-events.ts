import { SECOND } from '../kernel/clock.ts'
import { StreamResponse } from './response.ts'

/** One event of a stream (HTML standard, "Server-sent events"). */
export interface ServerSentEvent {
  /** The id that a client sends as `Last-Event-ID` when it reconnects. If absent, the last id stays. */
  id?: string
  event: string
  data: object
}

/**
 * Interval of comment lines that keep a silent connection open. The edge cuts idle connections after 120 seconds, many
 * proxies after 30.
 */
const PING = 15 * SECOND

/**
 * Answers with events as they arrive.
 * @param events each event, or occasionally undefined while there is none
 */
export const eventStream = (
  events: (signal: AbortSignal) => AsyncIterable<ServerSentEvent | undefined>,
): StreamResponse =>
  new StreamResponse(
    200,
    { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    (signal) => lines(events(signal)),
  )

/**
 * Formats a stream. A line that is no event ends no block: some clients (httpx-sse of Python) take a block without data for an
 * event, and official A2A clients then fail to parse it.
 */
async function* lines(events: AsyncIterable<ServerSentEvent | undefined>): AsyncGenerator<string> {
  yield 'retry: 1000\n'
  let sent = performance.now()
  for await (const next of events) {
    if (!next && performance.now() - sent < PING) continue
    sent = performance.now()
    yield next ? textOf(next) : ': still here\n'
  }
}

/** Formats an event. JSON contains no line breaks, so the data is one line. */
const textOf = ({ id, event, data }: ServerSentEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
