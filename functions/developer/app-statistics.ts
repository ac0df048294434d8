import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import {
  AppLogSchema,
  AppStatsSchema,
  listLogs,
  logFilters,
  presentLog,
  readStats,
  statsQuery,
} from '#shared/insight/statistics/index.ts'

const common = { group: 'developer', caller: 'developer', params: { id: 'app' } } as const

const stats = defineEndpoint({
  ...common,
  id: 'developer.apps.stats',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}/stats',
  summary: 'Get an app’s statistics',
  description:
    'Counts customers’ installations and runs. Test runs and everything else in sandbox workspaces are counted only ' +
    'in `sandbox`. Days are in UTC. The figures lag by a few seconds.',
  query: statsQuery,
  response: AppStatsSchema,
  handler: ({ work, caller, params, query }) => readStats(work, caller.developerId, params.id, query.days),
})

const logs = defineEndpoint({
  ...common,
  id: 'developer.apps.logs',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}/logs',
  summary: 'List an app’s finished runs, newest first',
  description:
    'Contains metadata only, kept for 30 days. Filters can be combined. A page of a rare combination can have fewer items ' +
    'than `limit`, even none: check `has_more` to see whether to continue.',
  query: () => pageQuery(logFilters()),
  list: {
    read: ({ work, caller, params, query: { limit, cursor, ...filter } }, page) =>
      listLogs(work, caller.developerId, params.id, filter, page),
    present: presentLog,
  },
  response: AppLogSchema,
})

export const endpoints = [stats, logs]
