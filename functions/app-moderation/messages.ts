import { listForModerators, presentModeratedMessage, writeAsModerator } from '#shared/domain/correspondence/moderate.ts'
import { ModeratedAppMessageSchema, WriteAppMessage } from '#shared/domain/correspondence/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'

const common = {
  group: 'admin',
  path: '/admin/apps/{id}/messages',
  params: { id: 'app' },
  caller: 'admin',
  role: 'moderator',
  response: ModeratedAppMessageSchema,
} as const

const list = defineEndpoint({
  ...common,
  id: 'admin.appMessages.list',
  method: 'GET',
  summary: 'List the correspondence about an app, newest first',
  query: () => offsetQuery({}),
  list: 'offset',
  handler: async ({ work, params, query }) => {
    const { items, total } = await listForModerators(work, params.id, query)
    return { items: items.map(presentModeratedMessage), total, limit: query.limit, offset: query.offset }
  },
})

const write = defineEndpoint({
  ...common,
  id: 'admin.appMessages.write',
  method: 'POST',
  status: 201,
  summary: 'Write to an app’s developer',
  description: 'The developer reads it as from “Moderation”, whoever of the staff writes.',
  body: WriteAppMessage,
  handler: ({ work, caller, params, body }) => writeAsModerator(work, caller, params.id, body.text),
})

export const messageEndpoints = [list, write]
