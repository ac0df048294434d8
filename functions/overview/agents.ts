import * as z from 'zod'
import { AssignableAgentSchema, listWorkingAgents } from '#shared/domain/agents/assignable.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const list = defineEndpoint({
  id: 'console.agents.list',
  group: 'console',
  method: 'GET',
  path: '/console/agents',
  caller: 'console',
  summary: 'List the agents that a task can be assigned to, newest first',
  description:
    'Those that are installed, work, and hold `tasks:read`. With `all=true` also those that work and take no tasks. A page ' +
    'may hold fewer than its limit: what cannot work now is left out of it.',
  query: () =>
    pageQuery({
      all: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true')
        .meta({ description: 'Also agents that take no tasks.' }),
    }),
  list: 'page',
  response: AssignableAgentSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.agents.list', query.all],
      query,
      (options) => listWorkingAgents(work, caller.workspace, query.all, options),
      (agent) => agent,
    ),
})

export const agentEndpoints = [list]
