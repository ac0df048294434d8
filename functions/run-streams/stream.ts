import type { Work } from '#shared/domain/deps.ts'
import { loadRun, noSuchRun, type RunKey } from '#shared/domain/runs/change.ts'
import { keyInWorkspace } from '#shared/domain/runs/read.ts'
import { isOver, runEvents, START } from '#shared/domain/runs/stream.ts'
import { RawAnswer, type StreamAnswer } from '#shared/http/answer.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { eventStream } from '#shared/http/server-sent-events.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

/** An empty one is what a client sends that has seen no event (HTML standard, "last event ID string"). */
const POSITION = /^\d{0,12}$/

const shared = {
  method: 'GET',
  params: { id: 'run' },
  waits: true,
  summary: 'Follow a run live',
  description: `Server-sent events (HTML standard): what has happened so far, then each change within about a second.

| event | data |
| --- | --- |
| \`step\` | A new or changed step, as \`GET …/runs/{id}\` shows it (\`RunStep\`). The same step \`id\` again means that it changed. |
| \`state\` | The run entered \`status\`: \`run_id\`, \`status\`, \`app_id\`, \`installation_id\`, \`agent\`, \`trigger\`, \`created_at\`, \`started_at\`; in a final state also \`finished_at\`, \`duration_ms\`, \`output\`, \`error_code\`, \`error_message\`, \`cost_units\`. |
| \`gap\` | \`after\`, \`before\`: states between these two numbers are not known any more (a run keeps its latest 50; steps are never missing). Also sent, before everything from the beginning, when \`Last-Event-ID\` is a number that this run has not reached. |

An event’s \`id\` is its number in the run: numbers only grow, and a step that changes several times while nobody looks shows its latest state once. A client that connects again with \`Last-Event-ID\` gets everything behind that number, so a cut connection loses nothing. Every 15 seconds of silence a comment line comes.

The stream ends after the final state, after about 290 seconds, and within 10 seconds after the caller lost access (the token expired or was revoked, the app or the installation was suspended, the person was removed): connect again. Once all was seen, the answer is 204, at which \`EventSource\` stops. Browsers’ own \`EventSource\` sends no \`Authorization\` header; a client over \`fetch\` does (npm \`eventsource\`), and tokens never go into addresses.

An open stream occupies one function execution for as long as it lasts, so an installation, and a person in a workspace, has ${LIMITS.streamsPerCaller} of them: one more ends the oldest, whose client connects again and loses nothing. To follow many runs, subscribe a webhook to \`run.*\` or poll \`GET /api/v1/events\`.`,
  produces: 'text/event-stream',
  lastEventId: POSITION,
  nothingWhen: 'The run has ended, and `Last-Event-ID` is its last event: nothing more will come.',
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

export const forIntegration = defineEndpoint({
  ...shared,
  id: 'api.runs.stream',
  group: 'api',
  path: '/api/v1/runs/{id}/stream',
  caller: 'integration',
  scope: 'runs:read',
  handler: ({ work, caller: { installation, run, viewer }, params: { id }, request }) => {
    // A callback token reaches its own run only.
    if (run && run.id !== id) throw noSuchRun()
    return follow(work, { installation_id: installation.id, id }, request.headers, viewer)
  },
})

export const forConsole = defineEndpoint({
  ...shared,
  id: 'console.runs.stream',
  group: 'console',
  path: '/console/runs/{id}/stream',
  caller: 'console',
  handler: async ({ work, caller, params: { id }, request }) =>
    follow(work, await keyInWorkspace(work, caller.workspace.id, id, caller.user.id), request.headers),
})

/** @throws `not_found`; `bad_request` for a `Last-Event-ID` that is no number */
const follow = async (
  work: Work,
  key: RunKey,
  headers: Record<string, string>,
  viewer?: string,
): Promise<RawAnswer | StreamAnswer> => {
  const after = positionOf(headers['last-event-id'])
  const run = await loadRun(work, key, viewer)
  if (isOver(run, after)) return new RawAnswer(204, { 'cache-control': 'no-store' })
  return eventStream((signal) => runEvents(work, run, after, signal))
}

const positionOf = (lastEventId = ''): number => {
  if (lastEventId === '') return START
  if (POSITION.test(lastEventId)) return Number(lastEventId)
  throw fail('bad_request', {
    message: 'Last-Event-ID is not a number.',
    fix: 'Send the id of the last event you got from this run’s stream, or no Last-Event-ID.',
  })
}
