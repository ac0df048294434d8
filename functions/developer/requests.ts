import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import {
  AgentRequestSchema,
  claimRequest,
  listRequests,
  presentRequest,
  REQUEST_STATUSES,
} from '#shared/marketplace/requests/index.ts'

const list = defineEndpoint({
  id: 'developer.requests.list',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/requests',
  caller: 'developer',
  summary: 'List requested agents, newest first',
  query: () => pageQuery({ status: z.enum(REQUEST_STATUSES).default('open') }),
  list: {
    read: ({ work, query }, page) => listRequests(work, query.status, page),
    present: (request, { caller }) => presentRequest(request, caller.developerId),
  },
  response: AgentRequestSchema,
})

const claim = defineEndpoint({
  id: 'developer.requests.claim',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/requests/{id}/claim',
  params: { id: 'agentRequest' },
  caller: 'developer',
  summary: 'Claim a request to build an agent',
  description:
    'Only one developer can claim a request; others get `conflict`. The workspace that made the request is notified.',
  response: AgentRequestSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => claimRequest(work, caller.developerId, params.id),
})

export const endpoints = [list, claim]
