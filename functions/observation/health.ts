import { readHealth } from '#shared/domain/observation/health.ts'
import { HealthSchema } from '#shared/domain/observation/health-schema.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const read = defineEndpoint({
  id: 'admin.health.read',
  group: 'admin',
  method: 'GET',
  path: '/admin/health',
  caller: 'admin',
  role: 'moderator',
  summary: 'How the platform does',
  description:
    'What its alarms watch, with the values of the last minutes: from CloudWatch where it is deployed, whose values are a ' +
    'minute or two old, and from itself where it runs locally. Each request there is one for each of about 150 metrics: look ' +
    'once a minute, not once a second. It answers 200 whatever the status.',
  response: HealthSchema,
  needs: ['metrics:read'],
  handler: ({ work }) => readHealth(work),
})

export const healthEndpoints = [read]
