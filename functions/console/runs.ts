import * as z from 'zod'
import { runAgain } from '#shared/agents/calls/index.ts'
import { readApproval } from '#shared/agents/tools/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import { answerInputAsPerson, listPendingInputs, presentPendingInput } from '#shared/work/questions/index.ts'
import {
  AnswerInput,
  ApprovalSchema,
  cancelRunAsPerson,
  PendingInput,
  presentWorkspaceRun,
  RUN_BODY_BYTES,
  RunAgain,
  RunSchema,
  readRunForWorkspace,
  readTrace,
  runFilters,
  searchRuns,
  TraceSchema,
  WorkspaceRunSchema,
} from '#shared/work/runs/index.ts'

const list = defineEndpoint({
  id: 'console.runs.list',
  group: 'console',
  method: 'GET',
  path: '/console/runs',
  caller: 'console',
  summary: 'List the workspace’s runs, newest first',
  description:
    'A conversation belongs to one person: you can’t list, read or decide runs that answer someone else’s. Use ' +
    '`status=awaiting_approval` to find runs waiting for a decision. A page searches up to 600 runs. With a narrow ' +
    'filter it can be short or empty while `has_more` is true; continue with its cursor.',
  query: () => pageQuery(runFilters()),
  list: {
    read: ({ work, caller, query: { limit, cursor, ...filter } }, page) =>
      searchRuns(work, caller.workspace.id, caller.user.id, filter, page),
    present: (run, { work }) => presentWorkspaceRun(work, run),
  },
  response: WorkspaceRunSchema,
  needs: ['objects:read'],
})

const read = defineEndpoint({
  id: 'console.runs.read',
  group: 'console',
  method: 'GET',
  path: '/console/runs/{id}',
  params: { id: 'run' },
  caller: 'console',
  summary: 'Get a run with its steps',
  description:
    'Runs are kept for 90 days unless the operator configured another period. After that, the response is ' +
    '`not_found`.',
  response: WorkspaceRunSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => readRunForWorkspace(work, caller.workspace.id, caller.user.id, params.id),
})

const approval = defineEndpoint({
  id: 'console.runs.approval.read',
  group: 'console',
  method: 'GET',
  path: '/console/runs/{id}/steps/{step}/approval',
  params: { id: 'run', step: 'step' },
  caller: 'console',
  summary: 'Get a call that waits for approval, with its exact arguments',
  description:
    'Returns one page of the arguments as canonical JSON (RFC 8785), with the size and SHA-256 of the whole text. Join ' +
    'the pages from `offset=0` to a `next_offset` of null. After the decision, `receipt` is its signed receipt.',
  query: () =>
    z.strictObject({
      offset: z.coerce
        .number()
        .int()
        .min(0)
        .max(10_000_000)
        .default(0)
        .meta({ description: '`next_offset` of the previous page.' }),
    }),
  response: ApprovalSchema,
  errors: ['conflict'],
  needs: ['objects:read'],
  handler: ({ work, caller, params, query }) =>
    readApproval(work, caller.workspace.id, caller.user.id, {
      runId: params.id,
      stepId: params.step,
      offset: query.offset,
    }),
})

const inputRequests = defineEndpoint({
  id: 'console.inputRequests.list',
  group: 'console',
  method: 'GET',
  path: '/console/input-requests',
  caller: 'console',
  summary: 'List agents’ unanswered questions, newest first',
  description:
    'Questions of runs that answer someone else’s conversation are left out, so a page may hold fewer items.',
  list: {
    read: ({ work, caller }, page) => listPendingInputs(work, caller.workspace.id, caller.user.id, page),
    present: (asked, { work }) => presentPendingInput(work, asked),
  },
  response: PendingInput,
  needs: ['objects:read'],
})

const answer = defineEndpoint({
  id: 'console.runs.answerInput',
  group: 'console',
  method: 'POST',
  path: '/console/runs/{id}/input',
  params: { id: 'run' },
  caller: 'console',
  summary: 'Answer an agent’s questions',
  description:
    'Send a response by key: `accept` with the filled form, `decline` or `cancel`. Partial answers are kept. Unknown and ' +
    'answered keys are ignored. The run continues once nothing is pending, if the installation has a free active run.',
  body: AnswerInput,
  response: RunSchema,
  errors: ['run_already_finished', 'too_many_active_runs', 'step_write_conflict'],
  needs: ['objects:read', 'objects:write'],
  handler: ({ work, caller, params, body }) =>
    answerInputAsPerson(work, caller.workspace.id, caller.user.id, params.id, body.responses),
})

const cancel = defineEndpoint({
  id: 'console.runs.cancel',
  group: 'console',
  method: 'POST',
  path: '/console/runs/{id}/cancel',
  params: { id: 'run' },
  caller: 'console',
  summary: 'Cancel an active run',
  description: 'The agent isn’t called again. A call that waits for approval isn’t made, and open questions are void.',
  response: RunSchema,
  errors: ['run_already_finished'],
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => cancelRunAsPerson(work, caller.workspace.id, caller.user.id, params.id),
})

const trace = defineEndpoint({
  id: 'console.runs.trace',
  group: 'console',
  method: 'GET',
  path: '/console/runs/{id}/trace',
  params: { id: 'run' },
  caller: 'console',
  summary: 'Get when everything in a run happened',
  description: 'Lists the run and those that it caused, with the times, sizes, tokens and decisions of their steps.',
  response: TraceSchema,
  handler: ({ work, caller, params }) => readTrace(work, caller.workspace.id, caller.user.id, params.id),
})

const again = defineEndpoint({
  id: 'console.runs.again',
  group: 'console',
  method: 'POST',
  path: '/console/runs/{id}/again',
  params: { id: 'run' },
  caller: 'console',
  summary: 'Start a run with the same input, or another one',
  description:
    'The new run has the trigger `manual` and is yours. A run of a task or conversation can’t be started again like ' +
    'this (`conflict`): assign the task or send the message again.',
  body: RunAgain,
  maxBodyBytes: RUN_BODY_BYTES,
  status: 201,
  response: RunSchema,
  errors: [
    'conflict',
    'app_suspended',
    'installation_suspended',
    'access_withdrawn',
    'tool_not_offered',
    'invalid_arguments',
    'too_many_active_runs',
    'payload_too_large',
  ],
  needs: ['objects:read', 'objects:write', 'queue:dispatch'],
  handler: ({ work, caller, params, body }) =>
    runAgain(work, caller.workspace.id, { id: caller.user.id, name: caller.user.name }, params.id, body.input),
})

export const endpoints = [trace, again, list, read, approval, inputRequests, answer, cancel]
