import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  AppMessageSchema,
  listAppMessages,
  presentAppMessage,
  WriteAppMessage,
  writeAsDeveloper,
} from '#shared/moderation/correspondence/index.ts'

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
  summary: 'List your messages with the moderators about an app, newest first',
  list: {
    read: ({ work, caller, params: { id } }, page) => listAppMessages(work, caller.developerId, id, page),
    present: presentAppMessage,
  },
  response: AppMessageSchema,
})

const write = defineEndpoint({
  ...common,
  id: 'developer.apps.messages.write',
  method: 'POST',
  summary: 'Send a message to the moderators about an app',
  body: WriteAppMessage,
  status: 201,
  response: AppMessageSchema,
  handler: ({ work, caller, params, body }) => writeAsDeveloper(work, caller.developerId, params.id, body.text),
})

export const endpoints = [list, write]
