import * as z from 'zod'
import { acquireLease, appId, endListening, listenEvents, listenerId } from '#shared/agents/outgoing/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { RawResponse } from '#shared/http/response.ts'
import { eventStream } from '#shared/http/server-sent-events.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

/** The listener and the number of its last event. Empty for a client that hasn't received an event yet. */
const POSITION = /^(?:(lsn_[0-9a-hjkmnp-tv-z]{26})-(\d{1,15}))?$/

const common = { group: 'developer', caller: 'developer', path: '/api/v1/dev/listen', waits: true } as const

const listen = defineEndpoint({
  ...common,
  id: 'developer.listen.stream',
  method: 'GET',
  // It takes requests over.
  role: 'developer',
  summary: 'Listen for the requests sent to your sandbox installation',
  description: `While you listen for an app, every request that the platform would send for the app’s installation in **your own sandbox workspace** comes to this stream instead of to its address, and you answer it. You can build an agent on your laptop this way. Nobody else’s requests are diverted. The command-line tool does all of this: \`aip listen --forward-to http://127.0.0.1:8787\`.

Answers count as over the network: the same deadlines, limits, error codes and retries. A request that no listener received is a failed connection; one that wasn’t answered is a timeout. To reconnect as the same listener, send \`Last-Event-ID\`: you get the requests that were lost. A new listener replaces the current one, which then gets 204 when it reconnects. After ${LIMITS.listenerLease / 1_000} seconds without a connection, or DELETE, requests go to their addresses again. The stream ends after about 290 seconds.`,
  answers: `Server-sent events. A comment line follows ${LIMITS.streamSilence / 1_000} seconds of silence. A developer can have ${LIMITS.streamsPerCaller} open streams; another one ends the oldest.

| event | data |
| --- | --- |
| \`ready\` | You are listening: \`listener\` (its ID), \`app_id\`, \`workspace_id\`. |
| \`request\` | One request exactly as it would be sent, signed: \`id\`, \`kind\` (\`run.execute\` or \`webhook\`), \`event\`, \`run_id\` or \`delivery_id\`, \`attempt\`, \`installation_id\`, \`method\`, \`url\`, \`headers\`, \`body_base64\`, \`deadline_at\`, \`time_left_ms\`, \`connect_retry_pauses_ms\`. Answer it with \`POST /api/v1/dev/listen/{id}/answer\`. |
| \`replaced\` | Another of your listeners took over for this app, and the stream ends. |`,
  query: () => z.strictObject({ app_id: appId() }),
  produces: 'text/event-stream',
  lastEventId: POSITION,
  orNothing: {
    status: 204,
    when: 'The listener of `Last-Event-ID` has ended, or another one took over. `EventSource` stops.',
  },
  example: `retry: 1000

id: lsn_01kae5m1v8w6c3x9q2r7t4y0zn-0
event: ready
data: {"listener":"lsn_01kae5m1v8w6c3x9q2r7t4y0zn","app_id":"app_01kae5m1v8w6c3x9q2r7t4y0zn","workspace_id":"ws_01kae5m1v8w6c3x9q2r7t4y0zn"}

id: lsn_01kae5m1v8w6c3x9q2r7t4y0zn-1795774530123
event: request
data: {"id":"lrq_01kae5m1v8w6c3x9q2r7t4y0zn","kind":"webhook","event":"run.succeeded","run_id":null,"delivery_id":"whd_01kae5m1v8w6c3x9q2r7t4y0zn","attempt":1,"installation_id":"ins_01kae5m1v8w6c3x9q2r7t4y0zn","method":"POST","url":"https://agent.example.com/hooks","headers":{"content-type":"application/json","x-svc-signature":"t=1795774530,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd"},"body_base64":"eyJpZCI6ImV2dF8wMSJ9","deadline_at":"2026-11-21T10:15:40.123+00:00","time_left_ms":9871,"connect_retry_pauses_ms":[]}

`,
  errors: ['bad_request', 'not_found', 'conflict'],
  needs: ['table:write', 'keys:data', 'objects:read'],
  handler: async ({ work, caller, query: { app_id }, request }) => {
    const position = positionOf(request.headers['last-event-id'])
    const listener = await acquireLease(work, caller.developerId, app_id, work.requestId, position?.listener)
    if (!listener) return new RawResponse(204, { 'cache-control': 'no-store' })
    return eventStream((signal) => listenEvents(work, listener, position?.after, signal))
  },
})

const end = defineEndpoint({
  ...common,
  id: 'developer.listen.end',
  method: 'DELETE',
  summary: 'Stop listening',
  description:
    'Requests for the app’s sandbox installation go to their usual addresses again immediately. Does nothing if the ' +
    'listener has ended or another one took over.',
  query: () => z.strictObject({ app_id: appId(), listener: listenerId() }),
  status: 204,
  errors: ['not_found'],
  handler: async ({ work, caller, query }) => {
    await endListening(work, caller.developerId, query.app_id, query.listener)
    return undefined
  },
})

/** Parses `Last-Event-ID`. Undefined for a new listener. */
const positionOf = (lastEventId = ''): { listener: string; after: number } | undefined => {
  if (lastEventId === '') return undefined
  const [, listener = '', n] = POSITION.exec(lastEventId) ?? []
  if (isId('listener', listener)) return { listener, after: Number(n) }
  throw fail('bad_request', {
    message: 'Last-Event-ID is not the ID of an event of this stream.',
    fix: 'Send the ID of the last event you received, or omit Last-Event-ID to start a new listener.',
  })
}

export const endpoints = [listen, end]
