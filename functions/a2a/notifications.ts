import * as z from 'zod'
import { takeNotification } from '#shared/agents/outside/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const receive = defineEndpoint({
  id: 'a2a.notifications.receive',
  group: 'a2a',
  method: 'POST',
  path: '/a2a/push/{id}',
  params: { id: 'run' },
  caller: 'none',
  waits: true,
  summary: 'Receive a push notification of an outside A2A agent (agents only)',
  description:
    'Agents of the runtime `a2a` whose card offers push notifications send them here, with the token of the run’s ' +
    'configuration in `X-A2A-Notification-Token`. The platform then reads the task. The body is ignored.',
  body: () => z.unknown(),
  anyJson: true,
  // The state of the task may be the whole task.
  maxBodyBytes: 2 * 1_024 * 1_024,
  response: () => z.object({}).meta({ id: 'NotificationTaken', description: 'Always empty.' }),
  // A wrong token costs one read. Counting it would cost more, and nobody guesses 256 bits.
  errors: ['unauthorized'],
  needs: ['table:read', 'table:write'],
  handler: async ({ work, params, request }) => {
    await takeNotification(work, params.id, request.headers['x-a2a-notification-token'])
    return {}
  },
})

export const endpoints = [receive]
