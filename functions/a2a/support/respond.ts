import { type JsonRpcId, jsonRpcResult } from '#shared/http/json-rpc.ts'
import { RawResponse, type StreamResponse } from '#shared/http/response.ts'
import { eventStream } from '#shared/http/server-sent-events.ts'
import { a2aMediaType } from '#shared/kernel/a2a-error.ts'
import type { Events } from './operations.ts'
import type { Headers } from './scene.ts'

type Json = Record<string, unknown>

/** Answers in the media type of the request. */
export const answerJson = (headers: Headers, value: Json): RawResponse =>
  new RawResponse(200, { 'content-type': a2aMediaType(headers), 'cache-control': 'no-store' }, JSON.stringify(value))

/** Answers with a stream. @param shape the element as the binding and the version show it */
export const answerEvents = (events: Events, shape: (element: Json) => Json): StreamResponse =>
  eventStream(async function* (signal) {
    for await (const event of events(signal)) {
      yield event && { id: event.id, event: 'message', data: shape(event.data) }
    }
  })

/** Wraps an element of a stream in a response to the request. */
export const inResponse =
  (id: JsonRpcId, shape: (element: Json) => Json = (element) => element) =>
  (element: Json): Json =>
    jsonRpcResult(id, shape(element))
