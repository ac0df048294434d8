import { COUNTED_AHEAD, listRuns } from '#shared/domain/observation/runs.ts'
import { ObservedRunSchema, presentObservedRun, runFilters } from '#shared/domain/observation/runs-schema.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'

const list = defineEndpoint({
  id: 'admin.runs.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/runs',
  caller: 'admin',
  role: 'moderator',
  summary: 'List all runs, newest first',
  description:
    'Metadata only: what customers gave and agents answered is not shown to the platform’s staff. Filters by status, and by app ' +
    `alone, follow the runs by seconds. \`total\` is counted up to ${COUNTED_AHEAD} runs behind the page: where it is ` +
    `\`offset\` + \`limit\` + ${COUNTED_AHEAD}, there may be more.`,
  query: () => offsetQuery(runFilters()),
  list: 'offset',
  response: ObservedRunSchema,
  handler: async ({ work, query: { limit, offset, ...filter } }) => {
    const { runs, total } = await listRuns(work, filter, { limit, offset })
    return { items: runs.map(presentObservedRun), total, limit, offset }
  },
})

export const runEndpoints = [list]
