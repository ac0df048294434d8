import { UpdatesSchema, updatesQuery } from '#shared/foundation/updates/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { readUpdates } from '#shared/messaging/inbox/index.ts'

const read = defineEndpoint({
  id: 'console.updates.read',
  group: 'console',
  method: 'GET',
  path: '/console/updates',
  caller: 'console',
  summary: 'Get what changed since the last poll',
  description:
    'Designed to be polled every few seconds: it costs two small reads besides those of the session. `changed` names ' +
    'the lists to reload. A change is reported once it can be read. It may occasionally be reported twice, but is ' +
    'never missed.',
  query: updatesQuery,
  response: UpdatesSchema,
  handler: ({ work, caller, query }) => readUpdates(work, caller.member, query.since),
})

export const endpoints = [read]
