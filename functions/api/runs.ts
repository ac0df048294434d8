import * as z from 'zod'
import { handOver } from '#shared/delivery/fan-out/index.ts'
import type { IntegrationCaller } from '#shared/http/callers.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import { scopeRefusal } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { answerInput, askInput } from '#shared/work/questions/index.ts'
import {
  AddSteps,
  AnswerInput,
  AskedInput,
  AskInput,
  addSteps,
  CompleteRun,
  cancelRun,
  completeRun,
  listRuns,
  loadRun,
  presentRun,
  RUN_BODY_BYTES,
  RUN_STATUSES,
  RunSchema,
  readRun,
  renewCallbackToken,
  runNotFound,
  StepSchema,
  withoutNulls,
} from '#shared/work/runs/index.ts'

/** Key of a run that the token may access. A callback token accesses only its own run, others those of their installation. */
const keyOf = ({ installation, run }: IntegrationCaller, id: string) => {
  if (run && run.id !== id) throw runNotFound()
  return { installation_id: installation.id, id }
}

const runId = { id: 'run' } as const

const list = defineEndpoint({
  id: 'api.runs.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/runs',
  elsewhere: ['POST'],
  caller: 'integration',
  scope: 'runs:read',
  summary: 'List the installation’s runs, newest first',
  query: () =>
    pageQuery({ status: z.enum(RUN_STATUSES).optional().meta({ description: 'Only runs with this status.' }) }),
  list: {
    read: ({ work, caller, query }, page) => listRuns(work, caller.installation.id, query.status, page, caller.viewer),
    present: (run, { work }) => presentRun(work, run),
  },
  response: RunSchema,
  needs: ['objects:read'],
})

const read = defineEndpoint({
  id: 'api.runs.read',
  group: 'api',
  method: 'GET',
  path: '/api/v1/runs/{id}',
  params: runId,
  caller: 'integration',
  scope: 'runs:read',
  summary: 'Get a run with its steps',
  description:
    'Runs are kept for 90 days unless the operator configured another period. After that, the response is ' +
    '`not_found`.',
  response: RunSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => readRun(work, keyOf(caller, params.id), caller.viewer, caller.run),
})

const steps = defineEndpoint({
  id: 'api.runs.addSteps',
  group: 'api',
  method: 'POST',
  path: '/api/v1/runs/{id}/steps',
  params: runId,
  caller: 'integration',
  scope: 'runs:write',
  summary: 'Report steps of a run',
  description:
    'Send one step, or up to 50 as `{steps: […]}`. A step without `seq` gets the next number. The output of a step ' +
    'can have up to 16 KiB, and all outputs of a run up to 2 MiB together.',
  body: AddSteps,
  maxBodyBytes: RUN_BODY_BYTES,
  status: 201,
  response: () => z.object({ items: z.array(StepSchema()) }).meta({ id: 'AddedSteps' }),
  errors: ['run_already_finished', 'conflict', 'step_write_conflict', 'too_many_steps'],
  handler: ({ work, caller, params, body }) =>
    addSteps(work, keyOf(caller, params.id), 'steps' in body ? body.steps : [body], caller.run),
})

const complete = defineEndpoint({
  id: 'api.runs.complete',
  group: 'api',
  method: 'POST',
  path: '/api/v1/runs/{id}/complete',
  params: runId,
  caller: 'integration',
  scope: 'runs:write',
  summary: 'Complete a run that was answered with 202',
  description: 'If a run is completed twice, the first answer wins. A pending approval becomes void.',
  body: CompleteRun,
  maxBodyBytes: RUN_BODY_BYTES,
  response: RunSchema,
  errors: ['run_already_finished', 'conflict', 'step_write_conflict', 'too_many_steps'],
  needs: ['objects:write', 'queue:fanout'],
  handler: ({ work, caller, params, body }) =>
    handOver(work, (handing) => completeRun(handing, keyOf(caller, params.id), withoutNulls(body), caller.run)),
})

const cancel = defineEndpoint({
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
  needs: ['queue:fanout'],
  handler: ({ work, caller, params }) => handOver(work, (handing) => cancelRun(handing, keyOf(caller, params.id))),
})

const callbackToken = defineEndpoint({
  id: 'api.runs.renewCallbackToken',
  group: 'api',
  method: 'POST',
  path: '/api/v1/runs/{id}/callback-token',
  params: runId,
  caller: 'integration',
  summary: 'Renew a run’s callback token',
  description:
    'Send the run’s current callback token, before it expires, or an access token of the installation with ' +
    '`runs:write`. With an access token, the new token has no more scopes than that one.',
  response: () =>
    z
      .object({ token: z.string(), expires_in: z.number().int().meta({ description: 'Seconds' }) })
      .meta({ id: 'CallbackToken' }),
  secret: true,
  needs: ['keys:callback'],
  errors: ['insufficient_scope', 'scope_denied_by_admin', 'run_already_finished', 'conflict'],
  handler: async ({ work, caller, params }) => {
    const run = await loadRun(work, keyOf(caller, params.id))
    const refusal = caller.run ? undefined : scopeRefusal('runs:write', caller, 'Renewing with an access token')
    if (refusal) throw refusal
    return renewCallbackToken(work, run, caller)
  },
})

const ask = defineEndpoint({
  id: 'api.runs.askInput',
  group: 'api',
  method: 'POST',
  path: '/api/v1/runs/{id}/input-requests',
  params: runId,
  caller: 'integration',
  scope: 'runs:write',
  summary: 'Ask a person questions in a run',
  description:
    'Send 1 to 10 questions by key, each with the schema of its form: a flat object of scalars and enums. The run stays ' +
    '`running` and leaves the active runs while it waits; up to 50 runs of an installation may wait. `run.input_received` ' +
    'says when answers are in the step. Unanswered for 24 hours, the run fails with `input_timeout`.',
  body: AskInput,
  status: 201,
  response: AskedInput,
  errors: ['run_already_finished', 'conflict', 'step_write_conflict', 'too_many_steps'],
  needs: ['objects:write'],
  handler: ({ work, caller, params, body }) =>
    askInput(work, keyOf(caller, params.id), { questions: body.input_requests }),
})

const answer = defineEndpoint({
  id: 'api.runs.answerInput',
  group: 'api',
  method: 'POST',
  path: '/api/v1/runs/{id}/input',
  params: runId,
  caller: 'integration',
  scope: 'runs:write',
  summary: 'Answer questions of a run that was started by API',
  description:
    'Partial answers are kept. Unknown and answered keys are ignored. Members answer runs that people started, in the ' +
    'console. With a callback token it is `forbidden`: an agent doesn’t answer itself.',
  body: AnswerInput,
  maxBodyBytes: RUN_BODY_BYTES,
  response: RunSchema,
  errors: ['forbidden', 'run_already_finished', 'too_many_active_runs', 'step_write_conflict'],
  needs: ['objects:read', 'objects:write'],
  handler: async ({ work, caller, params, body }) => {
    const run = await loadRun(work, keyOf(caller, params.id), caller.viewer)
    if (caller.run) throw fail('forbidden', { message: 'A run’s own callback token can’t answer its questions.' })
    if (run.actor) {
      throw fail('forbidden', {
        message: 'A person started this run, so people answer its questions.',
        fix: 'Ask a member of the workspace to answer on the run’s page in the console.',
      })
    }
    return answerInput(work, run, { type: 'installation', id: caller.installation.id }, body.responses)
  },
})

export const endpoints = [list, read, steps, complete, cancel, callbackToken, ask, answer]
