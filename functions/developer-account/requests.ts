import * as z from 'zod'
import { claimRequest, listRequests } from '#shared/domain/requests/claim.ts'
import { AgentRequestSchema, presentRequest } from '#shared/domain/requests/schemas.ts'
import { REQUEST_STATUSES } from '#shared/entities/reviews.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const list = defineEndpoint({
  id: 'developer.requests.list',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/requests',
  caller: 'developer',
  summary: 'List the agents that customers ask for, newest first',
  query: () => pageQuery({ status: z.enum(REQUEST_STATUSES).default('open') }),
  list: 'page',
  response: AgentRequestSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['developer.requests.list', query.status],
      query,
      (options) => listRequests(work, query.status, options),
      (request) => presentRequest(request, caller.developerId),
    ),
})

const claim = defineEndpoint({
  id: 'developer.requests.claim',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/requests/{id}/claim',
  params: { id: 'agentRequest' },
  caller: 'developer',
  summary: 'Claim a request: say that you build it',
  description:
    'Of several developers one wins; for the others it is `conflict`. The organization that asked is notified.',
  response: AgentRequestSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => claimRequest(work, caller.developerId, params.id),
})

export const requestEndpoints = [list, claim]
