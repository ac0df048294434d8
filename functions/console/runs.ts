import * as z from 'zod'
import { decide } from '#shared/domain/runs/approvals.ts'
import { presentRun } from '#shared/domain/runs/present.ts'
import { listForWorkspace, narrowedForWorkspace, readForWorkspace } from '#shared/domain/runs/read.ts'
import { Decide, RunSchema } from '#shared/domain/runs/schemas.ts'
import { RUN_STATUSES } from '#shared/entities/runs.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

export const list = defineEndpoint({
  id: 'console.runs.list',
  group: 'console',
  method: 'GET',
  path: '/console/runs',
  caller: 'console',
  summary: 'List the workspace’s runs, newest first',
  description:
    'A chat is its person’s alone: runs that answer somebody else’s are not listed, read or decided here. `status` and ' +
    '`installation_id` narrow the list, and what waits for a decision is `status=awaiting_approval`; a narrowed page may hold ' +
    'fewer than its limit.',
  query: () =>
    pageQuery({
      status: z.enum(RUN_STATUSES).optional(),
      installation_id: z.string().max(64).optional().meta({ description: 'Runs of one agent.' }),
    }),
  list: 'page',
  response: RunSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.runs.list', query.status ?? null, query.installation_id ?? null],
      query,
      (options) =>
        query.status === undefined && query.installation_id === undefined
          ? listForWorkspace(work, caller.workspace.id, caller.user.id, options)
          : narrowedForWorkspace(work, caller.workspace.id, caller.user.id, query, options),
      (run) => presentRun(work, run),
    ),
})

export const read = defineEndpoint({
  id: 'console.runs.read',
  group: 'console',
  method: 'GET',
  path: '/console/runs/{id}',
  params: { id: 'run' },
  caller: 'console',
  summary: 'Read a run with its steps',
  description: 'Kept for 90 days unless the operator chose otherwise; then `not_found`.',
  response: RunSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => readForWorkspace(work, caller.workspace.id, caller.user.id, params.id),
})

export const decideStep = defineEndpoint({
  id: 'console.runs.decide',
  group: 'console',
  method: 'POST',
  path: '/console/runs/{id}/steps/{step}/decision',
  params: { id: 'run', step: 'step' },
  caller: 'console',
  summary: 'Approve or reject a dangerous action',
  description: 'The run goes on at once; an approved call is executed by the platform, at most once.',
  body: Decide,
  response: RunSchema,
  errors: ['approval_already_decided', 'run_already_finished'],
  needs: ['objects:read'],
  handler: ({ work, caller, params, body }) =>
    decide(work, caller.workspace.id, { id: caller.user.id, name: caller.user.name }, params.id, params.step, body),
})
