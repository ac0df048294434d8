import { EventSchema } from '#shared/domain/events/schemas.ts'
import { TriggerSchema } from '#shared/domain/sandbox/schemas.ts'
import { triggerEvent } from '#shared/domain/sandbox/trigger.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

export const trigger = defineEndpoint({
  id: 'developer.sandbox.trigger',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/sandbox/trigger',
  caller: 'developer',
  summary: 'Have a sample event happen',
  description:
    'A realistic event of any type for the app’s sandbox installation: its webhooks get it, signed, and so does its feed ' +
    '(`GET /api/v1/events`). It carries `"test": true`; the ids in its data are of nothing that exists, and nothing else ' +
    'follows from it: no run starts, nobody is notified, no statistics count it. `data` replaces fields of the sample.',
  body: TriggerSchema,
  status: 201,
  response: EventSchema,
  errors: ['not_found', 'no_manifest', 'app_suspended', 'installation_suspended', 'conflict', 'payload_too_large'],
  handler: ({ work, caller, body }) => triggerEvent(work, caller.developerId, body),
})
