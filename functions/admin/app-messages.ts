import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'
import {
  listMessagesForModerators,
  ModeratedAppMessageSchema,
  presentModeratedMessage,
  WriteAppMessage,
  writeAsModerator,
} from '#shared/moderation/correspondence/index.ts'

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
  summary: 'List the messages about an app, newest first',
  query: () => offsetQuery({}),
  list: 'offset',
  handler: async ({ work, params, query }) => {
    const { items, total } = await listMessagesForModerators(work, params.id, query)
    return { items: items.map(presentModeratedMessage), total, limit: query.limit, offset: query.offset }
  },
})

const write = defineEndpoint({
  ...common,
  id: 'admin.appMessages.write',
  method: 'POST',
  status: 201,
  summary: 'Send a message to an app’s developer',
  description: 'The developer sees the sender as “Moderation”, whichever admin sends the message.',
  body: WriteAppMessage,
  handler: ({ work, caller, params, body }) => writeAsModerator(work, caller, params.id, body.text),
})

export const endpoints = [list, write]
