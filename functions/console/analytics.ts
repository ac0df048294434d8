import { defineEndpoint } from '#shared/http/endpoint.ts'
import { AnalyticsSchema, analyticsQuery, readAnalytics } from '#shared/insight/analytics/index.ts'

const read = defineEndpoint({
  id: 'console.analytics.read',
  group: 'console',
  method: 'GET',
  path: '/console/analytics',
  caller: 'console',
  summary: 'Get the workspace’s analytics',
  description:
    'Returns runs with their outcomes, durations and costs by day and by agent, and what is waiting now. The figures ' +
    'lag by a few seconds.',
  query: analyticsQuery,
  response: AnalyticsSchema,
  handler: ({ work, caller, query }) => readAnalytics(work, caller.workspace.id, query),
})

export const endpoints = [read]
