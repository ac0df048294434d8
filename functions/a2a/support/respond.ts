import { RawResponse, StreamResponse } from '#shared/http/response.ts'
import { eventStream } from '#shared/http/server-sent-events.ts'
import { startSilence } from '#shared/http/silence.ts'
import { a2aMediaType } from '#shared/kernel/a2a-error.ts'
import type { Events } from './operations.ts'
import type { Asking, Headers } from './scene.ts'

type Json = Record<string, unknown>

const headersOf = (headers: Headers) => ({ 'content-type': a2aMediaType(headers), 'cache-control': 'no-store' })

/**
 * Answers in the media type of the request. A person's answer may take longer than the edge waits for a first byte, so it
 * begins with white space, which JSON allows. A failure after that breaks the answer off.
 */
export const answerJson = async (
  { work, caller, headers }: Pick<Asking, 'work' | 'caller' | 'headers'>,
  answer: Promise<Json>,
): Promise<RawResponse | StreamResponse> => {
  const inOnePiece = async () => new RawResponse(200, headersOf(headers), JSON.stringify(await answer))
  if (caller.kind !== 'person' || !work.settings.streaming) return inOnePiece()
  if (await isThereInTime(answer)) return inOnePiece()
  return new StreamResponse(200, headersOf(headers), async function* (signal) {
    do yield ' '
    while (!(await isThereInTime(answer, signal)) && !signal.aborted)
    if (!signal.aborted) yield JSON.stringify(await answer)
  })
}

/** Waits for an answer, or its failure. @returns false after a silence, or when `signal` is aborted */
const isThereInTime = async (answer: Promise<unknown>, signal?: AbortSignal): Promise<boolean> => {
  const silence = startSilence(signal)
  const done = answer.then(
    () => true,
    () => true,
  )
  const isDone = await Promise.race([done, silence.passed])
  silence.end()
  return isDone ?? false
}

/** Answers with a stream, or with 204 if there is none. @param shape the element as the binding and the version show it */
export const answerEvents = (
  events: Events | undefined,
  shape: (element: Json) => Json,
): RawResponse | StreamResponse => {
  if (!events) return new RawResponse(204, { 'cache-control': 'no-store' })
  return eventStream(async function* (signal) {
    for await (const event of events(signal)) {
      yield event && { id: event.id, event: 'message', data: shape(event.data) }
    }
  })
}
