import { readUpdates } from '#shared/domain/updates/read.ts'
import { UpdatesSchema, updatesQuery } from '#shared/domain/updates/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const read = defineEndpoint({
  id: 'console.updates.read',
  group: 'console',
  method: 'GET',
  path: '/console/updates',
  caller: 'console',
  summary: 'What changed since, for a page that keeps itself up to date',
  description:
    'Made to be asked every few seconds: it costs two small reads beside the session’s. `changed` says which lists to read ' +
    'again. A change is told when it can be read; now and then one is told twice, none is left out.',
  query: updatesQuery,
  response: UpdatesSchema,
  handler: ({ work, caller, query }) => readUpdates(work, caller.member, query.since),
})

export const updateEndpoints = [read]
