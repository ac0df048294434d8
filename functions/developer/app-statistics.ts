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
    'Contains metadata only, kept for 30 days. Send at most one of `run_id`, `request_id`, `error_code` and `status`.',
  query: () =>
    pageQuery(logFilters()).refine(
      ({ run_id, request_id, error_code, status }) =>
        [run_id, request_id, error_code, status].filter((filter) => filter !== undefined).length <= 1,
      { path: ['run_id'], message: 'run_id, request_id, error_code and status cannot be combined' },
    ),
  list: {
    read: ({ work, caller, params, query: { limit, cursor, ...filter } }, page) =>
      listLogs(work, caller.developerId, params.id, filter, page),
    present: presentLog,
  },
  response: AppLogSchema,
})

export const endpoints = [stats, logs]
