import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'
import {
  COUNTED_AHEAD,
  listObservedRuns,
  ObservedRunSchema,
  presentObservedRun,
  runFilters,
} from '#shared/insight/observation/index.ts'

const list = defineEndpoint({
  id: 'admin.runs.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/runs',
  caller: 'admin',
  role: 'moderator',
  summary: 'List all runs, newest first',
  description:
    'Contains metadata only: admins can’t see what customers sent or what agents answered. Filters by status, and by app ' +
    `alone, lag by a few seconds. \`total\` counts up to ${COUNTED_AHEAD} runs past the page: if it equals ` +
    `\`offset\` + \`limit\` + ${COUNTED_AHEAD}, there may be more.`,
  query: () => offsetQuery(runFilters()),
  list: 'offset',
  response: ObservedRunSchema,
  handler: async ({ work, query: { limit, offset, ...filter } }) => {
    const { runs, total } = await listObservedRuns(work, filter, { limit, offset })
    return { items: runs.map(presentObservedRun), total, limit, offset }
  },
})

export const endpoints = [list]
