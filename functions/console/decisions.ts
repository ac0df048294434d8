import { decideCall, decideCalls } from '#shared/agents/tools/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { Decide, DecideSeveral, RunSchema, SeveralDecidedSchema } from '#shared/work/runs/index.ts'

const decide = defineEndpoint({
  id: 'console.runs.decide',
  group: 'console',
  method: 'POST',
  path: '/console/runs/{id}/steps/{step}/decision',
  params: { id: 'run', step: 'step' },
  caller: 'console',
  summary: 'Approve or reject a dangerous action',
  description:
    'The run continues immediately, unless the workspace’s rules ask for a second person. The platform executes an approved call at most once. The decision yields a signed ' +
    'receipt, which the agent gets with the result. If the step doesn’t show the arguments in full, read all pages of ' +
    '`GET …/approval` and send their `arguments_sha256`.',
  body: Decide,
  response: RunSchema,
  errors: ['approval_already_decided', 'run_already_finished', 'conflict', 'forbidden'],
  needs: ['objects:read', 'keys:receipts'],
  handler: ({ work, caller, params, body }) =>
    decideCall(
      work,
      caller.workspace,
      { id: caller.user.id, name: caller.user.name, session_id: caller.session.id },
      params.id,
      params.step,
      body,
    ),
})

const decideSeveral = defineEndpoint({
  id: 'console.approvals.decide',
  group: 'console',
  method: 'POST',
  path: '/console/approvals/decisions',
  caller: 'console',
  summary: 'Decide several calls at once',
  description:
    'Rejects any calls, or approves identical ones of one agent: each call’s arguments must have the SHA-256 that you ' +
    'read. Each decision is made on its own and has a receipt of its own. `results` says what became of each.',
  body: DecideSeveral,
  response: SeveralDecidedSchema,
  needs: ['objects:read', 'keys:receipts'],
  handler: ({ work, caller, body }) =>
    decideCalls(
      work,
      caller.workspace,
      { id: caller.user.id, name: caller.user.name, session_id: caller.session.id },
      body,
    ),
})

export const endpoints = [decide, decideSeveral]
