import { analyticsQuery } from '#shared/domain/analytics/schemas.ts'
import { readMetrics } from '#shared/domain/observation/metrics.ts'
import { MetricsSchema } from '#shared/domain/observation/metrics-schema.ts'
import { readOverview } from '#shared/domain/observation/overview.ts'
import { OverviewSchema } from '#shared/domain/observation/overview-schema.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const common = { group: 'admin', method: 'GET', caller: 'admin', role: 'moderator' } as const

const overview = defineEndpoint({
  ...common,
  id: 'admin.overview.read',
  path: '/admin/overview',
  summary: 'The platform’s totals',
  description:
    'Records are counted exactly, with the change that makes, moves or removes them. Runs, installations that came and went, and ' +
    'deliveries are counted by their events, each once, and follow by seconds.',
  response: OverviewSchema,
  handler: ({ work }) => readOverview(work),
})

const metrics = defineEndpoint({
  ...common,
  id: 'admin.metrics.read',
  path: '/admin/metrics',
  summary: 'The platform day by day',
  description:
    'Exact, in the days of the time zone that is asked for, daylight saving time included; whoever sums the days gets what ' +
    'happened. Runs and installations follow by seconds.',
  query: analyticsQuery,
  response: MetricsSchema,
  handler: ({ work, query }) => readMetrics(work, query),
})

export const figureEndpoints = [overview, metrics]
