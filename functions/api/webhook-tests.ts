import { sendTestDelivery, TestResultSchema } from '#shared/delivery/webhooks/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const test = defineEndpoint({
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
    'Waits up to 10 seconds for the receiver. The test event is sent whatever the subscription’s event types are, ' +
    'even if the subscription is disabled. It is sent only once, and a failure doesn’t count toward disabling the ' +
    'subscription.',
  response: TestResultSchema,
  errors: ['conflict'],
  needs: ['keys:data', 'objects:read', 'objects:write', 'outgoing'],
  handler: ({ work, caller, params }) => sendTestDelivery(work, caller.installation, params.id),
})

export const endpoints = [test]
