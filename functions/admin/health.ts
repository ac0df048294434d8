import { defineEndpoint } from '#shared/http/endpoint.ts'
import { HealthSchema, readHealth } from '#shared/insight/observation/index.ts'

const read = defineEndpoint({
  id: 'admin.health.read',
  group: 'admin',
  method: 'GET',
  path: '/admin/health',
  caller: 'admin',
  role: 'moderator',
  summary: 'Get the platform’s health',
  description:
    'Returns the values that the alarms watch, for the last few minutes. On AWS the values come from CloudWatch and ' +
    'lag by a minute or two. Locally the platform reports them itself. All callers get the same reading for a minute: ' +
    '`as_of` says when it was taken. `last_sweep` is always current. The response is 200 whatever the status.',
  response: HealthSchema,
  needs: ['metrics:read'],
  handler: ({ work }) => readHealth(work),
})

export const endpoints = [read]
