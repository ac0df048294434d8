import { readAnalytics } from '#shared/domain/analytics/read.ts'
import { AnalyticsSchema, analyticsQuery } from '#shared/domain/analytics/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const read = defineEndpoint({
  id: 'console.analytics.read',
  group: 'console',
  method: 'GET',
  path: '/console/analytics',
  caller: 'console',
  summary: 'The workspace’s figures',
  description:
    'Runs, their outcomes, durations and costs by day and by agent, and what is waiting now. They follow by seconds.',
  query: analyticsQuery,
  response: AnalyticsSchema,
  handler: ({ work, caller, query }) => readAnalytics(work, caller.workspace.id, query),
})

export const analyticsEndpoints = [read]
