import * as z from 'zod'
import { NEEDS_IN_PLACE, newRunInPlace } from '#shared/agents/dispatch/index.ts'
import { fitsInPlace, startAndWait } from '#shared/agents/waiting/index.ts'
import { handOver } from '#shared/delivery/fan-out/index.ts'
import type { IntegrationCaller } from '#shared/http/callers.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { scopeRefusal } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { loadNewRunPosition, RUN_BODY_BYTES, RunSchema, StartRun, startRun } from '#shared/work/runs/index.ts'

const start = defineEndpoint({
  id: 'api.runs.start',
  group: 'api',
  method: 'POST',
  path: '/api/v1/runs',
  caller: 'integration',
  scope: 'runs:write',
  waits: true,
  waitsIfAsked: true,
  summary: 'Create a run and start it',
  description:
    'The run is queued and handed to the agent immediately. An installation can have up to 5 active runs. A run ' +
    'started with a callback token continues that run’s chain, which ends 24 hours after its first run.\n\nWith `wait`, ' +
    'the response comes when the run ends, and shows it with its steps and output, as `GET /api/v1/runs/{id}` does. It ' +
    'comes earlier if the run stops for a person, and at the latest after `wait` seconds, with the run as it is then. ' +
    'Check `status`. The run continues if you disconnect. Send an `Idempotency-Key` to repeat the request without ' +
    'starting a second run: the repeat gets the same response.',
  query: () =>
    z.strictObject({
      wait: z.coerce
        .number()
        .int()
        .min(1)
        .max(LIMITS.runWaitSeconds)
        .optional()
        .meta({
          description:
            'Seconds to wait for the run’s end. The wait ends after 55 seconds even if it asks for more. Requires the ' +
            'scope `runs:read`. A callback token can’t wait, because it can’t read other runs.',
        }),
    }),
  body: StartRun,
  maxBodyBytes: RUN_BODY_BYTES,
  status: 201,
  response: RunSchema,
  errors: ['too_many_active_runs', 'budget_exceeded', 'run_already_finished', 'chain_budget_exceeded', 'forbidden'],
  needs: NEEDS_IN_PLACE,
  handler: async ({ work, caller, query: { wait }, body: { input, trigger }, request, recheck }) => {
    const { installation, grant, run, viewer } = caller
    if (wait !== undefined) requireReading(caller)
    const newRun = async () => ({
      installation,
      grant_id: grant?.id,
      input,
      trigger,
      chain: loadNewRunPosition(work, installation.id, run),
    })
    if (wait === undefined) return startRun(work, await newRun())
    const repeatable = request.headers['idempotency-key'] !== undefined
    // A scope can be banned during the wait.
    const mayStillRead = async () => requireReading(await recheck())
    const waiting = { seconds: wait, repeatable, viewer, recheck: mayStillRead }
    return fitsInPlace(work, wait)
      ? handOver(work, (handing) =>
          startAndWait(handing, installation.id, newRun, { ...waiting, inPlace: newRunInPlace }),
        )
      : startAndWait(work, installation.id, newRun, waiting)
  },
})

/** Refuses a wait to callers that couldn't read the run. @throws `forbidden`, `insufficient_scope`, `scope_denied_by_admin` */
const requireReading = (caller: IntegrationCaller): void => {
  if (caller.run) {
    throw fail('forbidden', {
      message: 'A callback token can’t wait for another run, because it can’t read it.',
      fix: 'Omit wait, or use the installation’s access token.',
    })
  }
  const refusal = scopeRefusal('runs:read', caller, 'Waiting for a run')
  if (refusal) throw refusal
}

export const endpoints = [start]
