import { defineEndpoint } from '#shared/http/endpoint.ts'
import { analyticsQuery } from '#shared/insight/analytics/index.ts'
import { MetricsSchema, readMetrics } from '#shared/insight/observation/index.ts'
import { loadOverview, OverviewSchema } from '#shared/moderation/overview/index.ts'

const common = { group: 'admin', method: 'GET', caller: 'admin', role: 'moderator' } as const

const overview = defineEndpoint({
  ...common,
  id: 'admin.overview.read',
  path: '/admin/overview',
  summary: 'Get the platform’s totals',
  description:
    'Records are counted exactly, in the same transaction that creates, moves or deletes them. Runs, installs, ' +
    'uninstalls and deliveries are counted once each from their events, with a delay of a few seconds.',
  response: OverviewSchema,
  handler: ({ work }) => loadOverview(work),
})

const metrics = defineEndpoint({
  ...common,
  id: 'admin.metrics.read',
  path: '/admin/metrics',
  summary: 'Get the platform’s daily metrics',
  description:
    'Counts are exact, and days follow the requested time zone, including daylight saving time. The sum of the days ' +
    'equals the total for the period. Runs and installations are counted with a delay of a few seconds.',
  query: analyticsQuery,
  response: MetricsSchema,
  handler: ({ work, query }) => readMetrics(work, query),
})

export const endpoints = [overview, metrics]
