import { TriggerSchema } from '#shared/agents/sandbox/index.ts'
import { EventSchema } from '#shared/delivery/feed/index.ts'
import { triggerEvent } from '#shared/delivery/test-events/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const trigger = defineEndpoint({
  id: 'developer.sandbox.trigger',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/sandbox/trigger',
  caller: 'developer',
  summary: 'Trigger a sample event',
  description:
    'Creates a realistic event of any type that the app’s sandbox installation may read. Its webhooks get the event, signed, ' +
    'and so does its feed (`GET /api/v1/events`). The event has `"test": true`, and the IDs in its data refer to ' +
    'records that don’t exist. It has no other effect: no run starts, nobody is notified, and statistics don’t count ' +
    'it. Send `data` to replace fields of the sample.',
  body: TriggerSchema,
  status: 201,
  response: EventSchema,
  errors: [
    'insufficient_scope',
    'not_found',
    'no_manifest',
    'app_suspended',
    'installation_suspended',
    'conflict',
    'payload_too_large',
  ],
  handler: ({ work, caller, body }) => triggerEvent(work, caller.developerId, body),
})

export const endpoints = [trigger]
