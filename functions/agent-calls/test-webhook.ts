import { TestResultSchema } from '#shared/domain/webhooks/schemas.ts'
import { testWebhook } from '#shared/domain/webhooks/test-delivery.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

export const test = defineEndpoint({
  group: 'api',
  caller: 'integration',
  scope: 'webhooks:manage',
  waits: true,
  id: 'api.webhooks.test',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/test',
  params: { id: 'webhook' },
  summary: 'Send a test event now',
  description:
    'Waits for the receiver, at most 10 seconds. Goes out whatever the masks say, also to a disabled subscription, is tried once, and does not count as a failure.',
  response: TestResultSchema,
  needs: ['keys:data', 'objects:read', 'objects:write'],
  handler: ({ work, caller, params }) => testWebhook(work, caller.installation, params.id),
})
