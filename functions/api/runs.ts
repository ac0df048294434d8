import * as z from 'zod'
import { renewCallbackToken } from '#shared/domain/runs/callback-token.ts'
import { positionOfNewRun } from '#shared/domain/runs/chain.ts'
import { loadRun, noSuchRun } from '#shared/domain/runs/change.ts'
import { cancelRun, completeRun } from '#shared/domain/runs/finish.ts'
import { presentRun } from '#shared/domain/runs/present.ts'
import { listRuns, readRun } from '#shared/domain/runs/read.ts'
import { addSteps } from '#shared/domain/runs/report.ts'
import { AddSteps, CompleteRun, RunSchema, StartRun, StepSchema, withoutNulls } from '#shared/domain/runs/schemas.ts'
import { startRun } from '#shared/domain/runs/start.ts'
import { RUN_STATUSES } from '#shared/entities/runs.ts'
import type { IntegrationCaller } from '#shared/http/callers.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'
import { fail } from '#shared/kernel/errors.ts'

/** Room for 1 MiB of input or output however it is escaped, with steps beside it; the exact limits are counted on the values. */
const RUN_BODY = 4 * 1_024 * 1_024

/** A run as this token may reach it: a callback token its own only, others their installation's. */
const keyOf = ({ installation, run }: IntegrationCaller, id: string) => {
  if (run && run.id !== id) throw noSuchRun()
  return { installation_id: installation.id, id }
}

const runId = { id: 'run' } as const

export const start = defineEndpoint({
  id: 'api.runs.start',
  group: 'api',
  method: 'POST',
  path: '/api/v1/runs',
  caller: 'integration',
  scope: 'runs:write',
  summary: 'Create a run and start it',
  description:
    'The run is queued and handed to the agent at once. An installation has at most 5 active runs. Started with a callback token, it continues that run’s chain.',
  body: StartRun,
  maxBodyBytes: RUN_BODY,
  status: 201,
  response: RunSchema,
  errors: ['too_many_active_runs', 'run_already_finished'],
  needs: ['objects:write'],
  handler: async ({ work, caller: { installation, run }, body: { input, trigger } }) =>
    startRun(work, { installation, input, trigger, chain: await positionOfNewRun(work, installation.id, run) }),
})

export const list = defineEndpoint({
  id: 'api.runs.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/runs',
  caller: 'integration',
  scope: 'runs:read',
  summary: 'List the installation’s runs, newest first',
  query: () =>
    pageQuery({ status: z.enum(RUN_STATUSES).optional().meta({ description: 'Only runs with this status.' }) }),
  list: 'page',
  response: RunSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['api.runs.list', query.status ?? null],
      query,
      (options) => listRuns(work, caller.installation.id, query.status, options, caller.viewer),
      (run) => presentRun(work, run),
    ),
})

export const read = defineEndpoint({
  id: 'api.runs.read',
  group: 'api',
  method: 'GET',
  path: '/api/v1/runs/{id}',
  params: runId,
  caller: 'integration',
  scope: 'runs:read',
  summary: 'Read a run with its steps',
  description: 'Kept for 90 days unless the operator chose otherwise; then `not_found`.',
  response: RunSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => readRun(work, keyOf(caller, params.id), caller.viewer),
})

export const steps = defineEndpoint({
  id: 'api.runs.addSteps',
  group: 'api',
  method: 'POST',
  path: '/api/v1/runs/{id}/steps',
  params: runId,
  caller: 'integration',
  scope: 'runs:write',
  summary: 'Report steps of a run',
  description:
    'One step, or `{steps: […]}` with up to 50. Without a `seq` a step gets the next one. A step’s output has at most 16 KiB, a run’s together 2 MiB.',
  body: AddSteps,
  maxBodyBytes: RUN_BODY,
  status: 201,
  response: () => z.object({ items: z.array(StepSchema()) }).meta({ id: 'AddedSteps' }),
  errors: ['run_already_finished', 'conflict', 'step_write_conflict', 'too_many_steps'],
  handler: ({ work, caller, params, body }) =>
    addSteps(work, keyOf(caller, params.id), 'steps' in body ? body.steps : [body]),
})

export const complete = defineEndpoint({
  id: 'api.runs.complete',
  group: 'api',
  method: 'POST',
  path: '/api/v1/runs/{id}/complete',
  params: runId,
  caller: 'integration',
  scope: 'runs:write',
  summary: 'Finish a run that was answered with 202',
  description: 'Of two final answers the first wins. A pending approval becomes void.',
  body: CompleteRun,
  maxBodyBytes: RUN_BODY,
  response: RunSchema,
  errors: ['run_already_finished', 'conflict', 'step_write_conflict', 'too_many_steps'],
  needs: ['objects:write'],
  handler: ({ work, caller, params, body }) => completeRun(work, keyOf(caller, params.id), withoutNulls(body)),
})

export const cancel = defineEndpoint({
  id: 'api.runs.cancel',
  group: 'api',
  method: 'POST',
  path: '/api/v1/runs/{id}/cancel',
  params: runId,
  caller: 'integration',
  scope: 'runs:write',
  summary: 'Cancel an active run',
  response: RunSchema,
  errors: ['run_already_finished'],
  handler: ({ work, caller, params }) => cancelRun(work, keyOf(caller, params.id)),
})

export const callbackToken = defineEndpoint({
  id: 'api.runs.renewCallbackToken',
  group: 'api',
  method: 'POST',
  path: '/api/v1/runs/{id}/callback-token',
  params: runId,
  caller: 'integration',
  summary: 'Renew the callback token of a run',
  description: 'With the run’s own callback token, while it is alive.',
  response: () =>
    z
      .object({ token: z.string(), expires_in: z.number().int().meta({ description: 'Seconds' }) })
      .meta({ id: 'CallbackToken' }),
  secret: true,
  errors: ['insufficient_scope', 'run_already_finished'],
  handler: async ({ work, caller, params }) => {
    const run = await loadRun(work, keyOf(caller, params.id))
    if (!caller.run) {
      throw fail('insufficient_scope', { message: 'Only the run’s own callback token renews it.' })
    }
    return renewCallbackToken(work, run, caller.app)
  },
})
