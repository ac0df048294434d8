import * as z from 'zod'
import { AssignableAgentSchema, listWorkingAgents } from '#shared/agents/calls/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'

const list = defineEndpoint({
  id: 'console.agents.list',
  group: 'console',
  method: 'GET',
  path: '/console/agents',
  caller: 'console',
  summary: 'List the agents you can assign tasks to, newest first',
  description:
    'Lists agents that are installed, active, and have the scope `tasks:read`. With `all=true`, also lists active ' +
    'agents that don’t accept tasks. A page can have fewer items than its limit, because agents that are currently ' +
    'unavailable are left out.',
  query: () =>
    pageQuery({
      all: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true')
        .meta({ description: 'Also list agents that don’t accept tasks.' }),
    }),
  list: {
    read: ({ work, caller, query }, page) => listWorkingAgents(work, caller.workspace, query.all, page),
    present: (agent) => agent,
  },
  response: AssignableAgentSchema,
})

export const endpoints = [list]
