import type { Work } from '#shared/foundation/work/index.ts'
import { isOver, loadRun, type RunKey, runEvents, STREAM_START } from '#shared/work/runs/index.ts'
import { fail } from '../kernel/errors.ts'
import { LIMITS } from '../kernel/limits.ts'
import { RawResponse, type StreamResponse } from './response.ts'
import { eventStream } from './server-sent-events.ts'

/** A client that has seen no event may send an empty id (HTML standard, "last event ID string"). */
const POSITION = /^\d{0,12}$/

/** The shared declaration of the endpoints that follow a run. */
export const runStreamDeclaration = {
  method: 'GET',
  params: { id: 'run' },
  waits: true,
  summary: 'Follow a run live',
  description: `All events so far, then each change within about a second. A client that reconnects with \`Last-Event-ID\` gets everything after that number.

The stream ends after the final state, after about 290 seconds, and within 10 seconds after the caller loses access. Reconnect when it ends. Once you have all events, the response is 204, and \`EventSource\` stops. The browser’s own \`EventSource\` sends no \`Authorization\` header: use a client based on \`fetch\` (npm \`eventsource\`), and never put tokens into addresses. An installation, and a person in a workspace, can have ${LIMITS.streamsPerCaller} streams; one more ends the oldest. To follow many runs, subscribe a webhook to \`run.*\`.`,
  answers: `Server-sent events (HTML standard), whose \`id\` is a number in the run that only increases. A comment line follows ${LIMITS.streamSilence / 1_000} seconds of silence.

| event | data |
| --- | --- |
| \`step\` | A new or changed step (\`RunStep\`), in its latest state. A repeated \`id\` means that the step changed. |
| \`state\` | The run entered \`status\`: \`run_id\`, \`status\`, \`app_id\`, \`installation_id\`, \`agent\`, \`trigger\`, \`created_at\`, \`started_at\`; in the end also \`finished_at\`, \`duration_ms\`, \`output\`, \`error_code\`, \`error_message\`, \`error\`, \`cost_units\`, \`usage\`. |
| \`gap\` | \`after\`, \`before\`: states between them are no longer available (a run keeps 50). Also sent for a number that the run hasn’t reached; all events follow. |`,
  produces: 'text/event-stream',
  lastEventId: POSITION,
  orNothing: {
    status: 204,
    when: 'The run has ended, and `Last-Event-ID` is its last event. No more events will follow.',
  },
  example: `retry: 1000
id: 1
event: state
data: {"run_id":"run_01kae5m1v8w6c3x9q2r7t4y0zn","status":"queued","app_id":"app_01kae5m1v8w6c3x9q2r7t4y0zn","installation_id":"ins_01kae5m1v8w6c3x9q2r7t4y0zn","agent":{"id":"acme.analyst","version":"1.0.0"},"trigger":"api","created_at":"2026-11-21T10:15:30.123+00:00","started_at":null}

id: 3
event: step
data: {"id":"stp_01kae5m1v8w6c3x9q2r7t4y0zn","seq":1,"type":"message","status":"done","output":{"text":"Looking"},"tool":null,"created_at":"2026-11-21T10:15:31.004+00:00"}

`,
  errors: ['bad_request'],
  needs: ['objects:read'],
} as const

/**
 * Streams a run's events.
 * @throws `not_found`; `bad_request` for a `Last-Event-ID` that is not a number
 */
export const followRun = async (
  work: Work,
  key: RunKey,
  headers: Record<string, string>,
  viewer?: string,
): Promise<RawResponse | StreamResponse> => {
  const after = positionOf(headers['last-event-id'])
  const run = await loadRun(work, key, viewer)
  if (isOver(run, after)) return new RawResponse(204, { 'cache-control': 'no-store' })
  return eventStream((signal) => runEvents(work, run, after, signal))
}

const positionOf = (lastEventId = ''): number => {
  if (lastEventId === '') return STREAM_START
  if (POSITION.test(lastEventId)) return Number(lastEventId)
  throw fail('bad_request', {
    message: 'Last-Event-ID is not a number.',
    fix: 'Send the id of the last event you received from this run’s stream, or omit Last-Event-ID.',
  })
}
