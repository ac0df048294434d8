import { conversationOf, listConversations, listMessagesAsAgent } from '#shared/domain/conversations/read.ts'
import {
  ConversationSchema,
  MessageSchema,
  presentConversation,
  presentMessage,
  WriteMessage,
} from '#shared/domain/conversations/schemas.ts'
import { writeAsAgent } from '#shared/domain/conversations/write.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const list = defineEndpoint({
  id: 'api.conversations.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/conversations',
  caller: 'integration',
  scope: 'chat:read',
  summary: 'List the agent’s conversations',
  description:
    'Those with a person or the orchestrator, and those of its tasks, the latest spoken in first. One in which somebody ' +
    'writes while you read moves to the front.',
  query: () => pageQuery({}),
  list: 'page',
  response: ConversationSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['api.conversations.list'],
      query,
      (options) => listConversations(work, caller, options),
      presentConversation,
    ),
})

const messages = defineEndpoint({
  id: 'api.conversations.messages.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/conversations/{id}/messages',
  params: { id: 'conversation' },
  caller: 'integration',
  scope: 'chat:read',
  summary: 'List a conversation’s messages, newest first',
  description: 'Of a main chat, those since the agent was chosen for it.',
  query: () => pageQuery({}),
  list: 'page',
  response: MessageSchema,
  handler: async ({ work, caller, params, query }) => {
    const conversation = await conversationOf(work, caller, params.id)
    return paged(
      work,
      caller,
      ['api.conversations.messages.list', conversation.id],
      query,
      (options) => listMessagesAsAgent(work, conversation, options),
      presentMessage,
    )
  },
})

const write = defineEndpoint({
  id: 'api.conversations.messages.write',
  group: 'api',
  method: 'POST',
  path: '/api/v1/conversations/{id}/messages',
  params: { id: 'conversation' },
  caller: 'integration',
  scope: 'chat:write',
  summary: 'Write a message',
  description: 'In the agent’s name. It comes back as `message.created`, too: leave out those whose author is you.',
  body: WriteMessage,
  status: 201,
  response: MessageSchema,
  errors: ['insufficient_scope', 'run_already_finished'],
  handler: ({ work, caller, params, body }) => writeAsAgent(work, caller, params.id, body),
})

export const conversationEndpoints = [list, messages, write]
