import * as z from 'zod'
import { listTools, ToolSchema } from '#shared/agents/tools/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery, pageThrough } from '#shared/http/paging.ts'

const list = defineEndpoint({
  id: 'api.tools.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/tools',
  caller: 'integration',
  summary: 'List the platform tools that this installation can call',
  description:
    'With `all=true`, lists every platform tool. `allowed` says whether this installation can call it now, and ' +
    '`denied_reason` why not.',
  query: () =>
    pageQuery({
      all: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true')
        .meta({ description: 'Also list tools that this installation can’t call.' }),
    }),
  list: {
    read: async ({ work, caller, query }, page) => {
      const tools = await listTools(work, caller)
      return pageThrough(query.all ? tools : tools.filter(({ allowed }) => allowed))(page)
    },
    present: (tool) => tool,
  },
  response: ToolSchema,
})

export const endpoints = [list]
