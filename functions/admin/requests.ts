import * as z from 'zod'
import { readTotal } from '#shared/foundation/totals/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery, readOffsetPage } from '#shared/http/offset-paging.ts'
import {
  AgentRequestEntity,
  ModeratedRequestSchema,
  presentModeratedRequest,
  REQUEST_SORTS,
  REQUEST_STATUSES,
  requestSources,
  requestsBy,
  SetRequestStatus,
  setRequestStatus,
  statusesOf,
} from '#shared/marketplace/requests/index.ts'
import { pageAtOffset } from '#shared/table/lists.ts'

const list = defineEndpoint({
  id: 'admin.requests.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/requests',
  caller: 'admin',
  role: 'moderator',
  summary: 'List requested agents, newest or most wanted first',
  query: () =>
    offsetQuery({
      status: z.enum(REQUEST_STATUSES).optional().meta({ description: 'Default: all.' }),
      sort: z.enum(REQUEST_SORTS).default('newest'),
    }),
  list: 'offset',
  response: ModeratedRequestSchema,
  handler: ({ work, query }) =>
    readOffsetPage(
      query,
      () => readTotal(work, statusesOf(query.status).map(requestsBy)),
      (at) => pageAtOffset(work.table, AgentRequestEntity, requestSources(query.status, query.sort), at),
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
  summary: 'Set the status of an agent request',
  description:
    'Notifies the workspace that made the request. `open` removes the developer’s claim. `claimed` returns ' +
    '`conflict` unless a developer has claimed the request.',
  body: SetRequestStatus,
  response: ModeratedRequestSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => setRequestStatus(work, caller, params.id, body),
})

export const endpoints = [list, setStatus]
