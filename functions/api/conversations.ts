import { defineEndpoint } from '#shared/http/endpoint.ts'
import { writeAsAgent } from '#shared/messaging/messenger/index.ts'
import {
  ConversationSchema,
  listConversations,
  listMessagesAsAgent,
  loadConversationAsAgent,
  MessageSchema,
  presentConversation,
  presentMessage,
  WriteMessage,
} from '#shared/work/conversations/index.ts'

const list = defineEndpoint({
  id: 'api.conversations.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/conversations',
  caller: 'integration',
  scope: 'chat:read',
  summary: 'List the agent’s conversations',
  description:
    'Contains conversations with a person or the orchestrator, and those of the agent’s tasks, most recently active ' +
    'first. A conversation that gets a new message while you page moves to the front.',
  list: {
    read: ({ work, caller }, page) => listConversations(work, caller, page),
    present: presentConversation,
  },
  response: ConversationSchema,
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
  description: 'In a main conversation, lists only messages sent since the agent was chosen for it.',
  list: {
    load: ({ work, caller, params }) => loadConversationAsAgent(work, caller, params.id),
    read: ({ work }, page, conversation) => listMessagesAsAgent(work, conversation, page),
    present: (message) => presentMessage(message),
  },
  response: MessageSchema,
})

const write = defineEndpoint({
  id: 'api.conversations.messages.write',
  group: 'api',
  method: 'POST',
  path: '/api/v1/conversations/{id}/messages',
  params: { id: 'conversation' },
  caller: 'integration',
  scope: 'chat:write',
  summary: 'Send a message',
  description:
    'Sends the message as the agent. You also receive it as a `message.created` event: ignore events that you are ' +
    'the author of.',
  body: WriteMessage,
  status: 201,
  response: MessageSchema,
  errors: ['insufficient_scope', 'run_already_finished'],
  handler: ({ work, caller, params, body }) => writeAsAgent(work, caller, params.id, body),
})

export const endpoints = [list, messages, write]
