import { StreamResponse } from './response.ts'
import { startSilence } from './silence.ts'

/** One event of a stream (HTML standard, "Server-sent events"). */
export interface ServerSentEvent {
  /** The id that a client sends as `Last-Event-ID` when it reconnects. If absent, the last id stays. */
  id?: string
  event: string
  data: object
}

/**
 * Answers with events as they arrive, and with a comment line after each silence.
 * @param events each event; undefined is ignored. Aborting the signal has to end them soon.
 */
export const eventStream = (
  events: (signal: AbortSignal) => AsyncIterable<ServerSentEvent | undefined>,
): StreamResponse =>
  new StreamResponse(
    200,
    { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    (signal) => lines(events, signal),
  )

/**
 * Formats a stream. A line that is no event ends no block: some clients (httpx-sse of Python) take a block without data for an
 * event, and official A2A clients then fail to parse it.
 */
async function* lines(events: Parameters<typeof eventStream>[0], signal: AbortSignal): AsyncGenerator<string> {
  yield 'retry: 1000\n'
  const over = new AbortController()
  const source = events(AbortSignal.any([signal, over.signal]))[Symbol.asyncIterator]()
  let silence = startSilence()
  try {
    let next = source.next()
    for (;;) {
      const result = await Promise.race([next, silence.passed])
      if (result?.done) return
      // A source that has nothing new doesn't end the silence.
      if (!result || result.value) {
        silence.end()
        yield result?.value ? textOf(result.value) : ': still here\n'
        silence = startSilence()
      }
      if (result) next = source.next()
    }
  } finally {
    silence.end()
    over.abort()
    await source.return?.()
  }
}

/** Formats an event. JSON contains no line breaks, so the data is one line. */
const textOf = ({ id, event, data }: ServerSentEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
