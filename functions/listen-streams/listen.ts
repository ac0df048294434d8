import * as z from 'zod'
import { beginListening, endListening } from '#shared/domain/listening/lease.ts'
import { appId, listenerId } from '#shared/domain/listening/schemas.ts'
import { type ListenEvent, listenEvents, REPLACED } from '#shared/domain/listening/stream.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { eventStream } from '#shared/http/server-sent-events.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

/** The listener and the number of the last event; an empty one is what a client sends that has seen no event. */
const POSITION = /^(?:(lsn_[0-9a-hjkmnp-tv-z]{26})-(\d{1,15}))?$/

const common = { group: 'developer', caller: 'developer', path: '/api/v1/dev/listen', waits: true } as const

export const listen = defineEndpoint({
  ...common,
  id: 'developer.listen.stream',
  method: 'GET',
  summary: 'Listen for what the sandbox installation would be sent',
  description: `While you listen for an app of yours, everything that the platform would POST for the app’s installation in **your own sandbox workspace** comes here instead of to its address: \`run.execute\` of test runs and other runs, webhook deliveries and webhook tests. So an agent can be built on a laptop: the addresses in the manifest and in the subscriptions need not answer, or exist. Installations of customers are never diverted, nor is what others install in sandboxes of theirs. The repository’s command-line tool does all of this: \`npx aip listen --forward-to http://127.0.0.1:8787\`.

| event | data |
| --- | --- |
| \`ready\` | You listen: \`listener\` (its id), \`app_id\`, \`workspace_id\`. |
| \`request\` | One request exactly as it would go out, signed: \`id\`, \`kind\` (\`run.execute\` or \`webhook\`), \`event\`, \`run_id\` or \`delivery_id\`, \`attempt\`, \`installation_id\`, \`method\`, \`url\`, \`headers\`, \`body_base64\`, \`deadline_at\`, \`time_left_ms\`, \`connect_retry_pauses_ms\`. Answer it with \`POST /api/v1/dev/listen/{id}/answer\`. |
| \`replaced\` | Another listener of yours took over for this app; the stream ends. Do not connect again by yourself. |

The answer counts exactly as the network’s would: the same deadlines (30 seconds for \`run.execute\`, 10 for webhooks), sizes, error codes, retries. A request that no listener got any more is a connection that failed; one that was sent and not answered is a timeout, after which that listener counts as gone until it connects again.

An event’s \`id\` goes back as \`Last-Event-ID\` when a client connects again: it stays the same listener, and gets what was lost with its connection. A new listener takes over from the one there is. After ${LIMITS.listenerLease / 1_000} seconds without a connection, requests take their ordinary way again; DELETE does that at once. The stream ends after about 290 seconds: connect again. A developer has ${LIMITS.streamsPerCaller} open streams; one more ends the oldest. Every 15 seconds of silence a comment line comes.`,
  query: () => z.strictObject({ app_id: appId() }),
  produces: 'text/event-stream',
  lastEventId: POSITION,
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
    const seen = positionOf(request.headers['last-event-id'])
    const listener = await beginListening(work, caller.developerId, app_id, work.requestId, seen?.listener)
    return eventStream((signal) => (listener ? listenEvents(work, listener, seen?.after, signal) : only(REPLACED)))
  },
})

export const end = defineEndpoint({
  ...common,
  id: 'developer.listen.end',
  method: 'DELETE',
  summary: 'Stop listening',
  description:
    'Requests for the app’s sandbox installation take their ordinary way again, at once. Without effect where the listener ' +
    'has ended or another one took over.',
  query: () => z.strictObject({ app_id: appId(), listener: listenerId() }),
  status: 204,
  errors: ['not_found'],
  handler: async ({ work, caller, query }) => {
    await endListening(work, caller.developerId, query.app_id, query.listener)
    return undefined
  },
})

async function* only(event: ListenEvent): AsyncGenerator<ListenEvent> {
  yield event
}

/** Undefined for a new listener. */
const positionOf = (lastEventId = ''): { listener: string; after: number } | undefined => {
  if (lastEventId === '') return undefined
  const [, listener = '', n] = POSITION.exec(lastEventId) ?? []
  if (isId('listener', listener)) return { listener, after: Number(n) }
  throw fail('bad_request', {
    message: 'Last-Event-ID is not the id of an event of this stream.',
    fix: 'Send the id of the last event you got, or no Last-Event-ID to begin anew.',
  })
}
