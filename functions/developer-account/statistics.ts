import { listLogs } from '#shared/domain/statistics/log.ts'
import { readStats } from '#shared/domain/statistics/read.ts'
import { AppLogSchema, AppStatsSchema, logFilters, presentLog, statsQuery } from '#shared/domain/statistics/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const common = { group: 'developer', caller: 'developer', params: { id: 'app' } } as const

const stats = defineEndpoint({
  ...common,
  id: 'developer.apps.stats',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}/stats',
  summary: 'Read an app’s statistics',
  description:
    'Installations and runs of customers; test runs and everything else in sandbox workspaces are in `sandbox` only. Days ' +
    'are in UTC. The figures follow what happens by seconds.',
  query: statsQuery,
  response: AppStatsSchema,
  handler: ({ work, caller, params, query }) => readStats(work, caller.developerId, params.id, query.days),
})

const logs = defineEndpoint({
  ...common,
  id: 'developer.apps.logs',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}/logs',
  summary: 'List an app’s finished runs, metadata only, newest first',
  description: 'Kept 30 days. At most one of `run_id`, `request_id`, `error_code` and `status` at a time.',
  query: () =>
    pageQuery(logFilters()).refine(
      ({ run_id, request_id, error_code, status }) =>
        [run_id, request_id, error_code, status].filter((one) => one !== undefined).length <= 1,
      { path: ['run_id'], message: 'run_id, request_id, error_code and status do not go together' },
    ),
  list: 'page',
  response: AppLogSchema,
  handler: ({ work, caller, params: { id }, query }) => {
    const { limit, cursor, ...filter } = query
    const name = ['developer.apps.logs', id, filter]
    return paged(
      work,
      caller,
      name,
      { limit, cursor },
      (options) => listLogs(work, caller.developerId, id, filter, options),
      presentLog,
    )
  },
})

export const statisticsEndpoints = [stats, logs]
