import * as z from 'zod'
import { requestSources, statusesOf } from '#shared/domain/requests/board.ts'
import { setRequestStatus } from '#shared/domain/requests/decide.ts'
import {
  ModeratedRequestSchema,
  presentModeratedRequest,
  REQUEST_SORTS,
  SetRequestStatus,
} from '#shared/domain/requests/schemas.ts'
import { totalOf } from '#shared/domain/totals.ts'
import { AgentRequestEntity, REQUEST_STATUSES, requestsBy } from '#shared/entities/reviews.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { observed, offsetQuery } from '#shared/http/offset-paging.ts'
import { skipTo } from '#shared/table/lists.ts'

const list = defineEndpoint({
  id: 'admin.requests.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/requests',
  caller: 'admin',
  role: 'moderator',
  summary: 'List the agents that customers ask for, newest or most wanted first',
  query: () =>
    offsetQuery({
      status: z.enum(REQUEST_STATUSES).optional().meta({ description: 'Default: all.' }),
      sort: z.enum(REQUEST_SORTS).default('newest'),
    }),
  list: 'offset',
  response: ModeratedRequestSchema,
  handler: ({ work, query }) =>
    observed(
      query,
      () => totalOf(work, statusesOf(query.status).map(requestsBy)),
      (at) => skipTo(work.table, AgentRequestEntity, requestSources(query.status, query.sort), at),
      presentModeratedRequest,
    ),
})

const setStatus = defineEndpoint({
  id: 'admin.requests.setStatus',
  group: 'admin',
  method: 'POST',
  path: '/admin/agent-requests/{id}/status',
  params: { id: 'agentRequest' },
  caller: 'admin',
  role: 'moderator',
  summary: 'Set a request’s status',
  description:
    'The organization that asked is notified. `open` takes it from the developer who claimed it; `claimed` is `conflict` ' +
    'while no developer has.',
  body: SetRequestStatus,
  response: ModeratedRequestSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => setRequestStatus(work, caller, params.id, body),
})

export const requestEndpoints = [list, setStatus]
