import { listTools } from '#shared/domain/tools/list.ts'
import { ToolSchema } from '#shared/domain/tools/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery, pagesOf } from '#shared/http/paging.ts'

export const list = defineEndpoint({
  id: 'api.tools.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/tools',
  caller: 'integration',
  summary: 'List the platform tools and whether this installation may call them',
  query: () => pageQuery({}),
  list: 'page',
  response: ToolSchema,
  handler: async ({ work, caller, query }) =>
    paged(work, caller, ['api.tools.list'], query, pagesOf(await listTools(work, caller)), (tool) => tool),
})
