import { listAppMessages, presentAppMessage, writeAsDeveloper } from '#shared/domain/correspondence/messages.ts'
import { AppMessageSchema, WriteAppMessage } from '#shared/domain/correspondence/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const common = {
  group: 'developer',
  caller: 'developer',
  path: '/api/v1/dev/apps/{id}/messages',
  params: { id: 'app' },
} as const

const list = defineEndpoint({
  ...common,
  id: 'developer.apps.messages.list',
  method: 'GET',
  summary: 'List the correspondence with the moderators about an app, newest first',
  query: () => pageQuery({}),
  list: 'page',
  response: AppMessageSchema,
  handler: ({ work, caller, params: { id }, query }) =>
    paged(
      work,
      caller,
      ['developer.apps.messages.list', id],
      query,
      (options) => listAppMessages(work, caller.developerId, id, options),
      presentAppMessage,
    ),
})

const write = defineEndpoint({
  ...common,
  id: 'developer.apps.messages.write',
  method: 'POST',
  summary: 'Write to the moderators about an app',
  body: WriteAppMessage,
  status: 201,
  response: AppMessageSchema,
  handler: ({ work, caller, params, body }) => writeAsDeveloper(work, caller.developerId, params.id, body.text),
})

export const messageEndpoints = [list, write]
