import * as z from 'zod'
import { assignAgent } from '#shared/domain/messenger/assign.ts'
import { chatMessages, chatOf, listChats } from '#shared/domain/messenger/chats.ts'
import { approveDraft, rejectDraft } from '#shared/domain/messenger/decide.ts'
import { presentChat, presentChatMessage } from '#shared/domain/messenger/present.ts'
import {
  ApproveDraft,
  AssignAgent,
  ChatMessageSchema,
  ChatSchema,
  WriteChatMessage,
} from '#shared/domain/messenger/schemas.ts'
import { writeAsPerson } from '#shared/domain/messenger/write.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const common = { group: 'console', caller: 'console' } as const
const one = { ...common, params: { id: 'dialog' } } as const
const message = { ...common, params: { id: 'message' } } as const

const list = defineEndpoint({
  ...common,
  id: 'console.messenger.chats.list',
  method: 'GET',
  path: '/console/messenger/chats',
  summary: 'List the messenger chats that you see, the latest spoken in first',
  description:
    'Those of the workspace’s bots, of shared personal accounts and of your own. A chat begins with the first message that ' +
    'somebody writes to the account. One in which somebody writes while you read moves to the front.',
  query: () => pageQuery({ account_id: z.string().max(64).optional().meta({ description: 'Of this account only.' }) }),
  list: 'page',
  response: ChatSchema,
  errors: ['not_found'],
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.messenger.chats.list', query.account_id],
      query,
      (options) => listChats(work, caller, query.account_id, options),
      ({ account, dialog }) => presentChat(account, dialog),
    ),
})

const get = defineEndpoint({
  ...one,
  id: 'console.messenger.chats.get',
  method: 'GET',
  path: '/console/messenger/chats/{id}',
  summary: 'Get a messenger chat',
  response: ChatSchema,
  handler: async ({ work, caller, params }) => {
    const { account, dialog } = await chatOf(work, caller, params.id)
    return presentChat(account, dialog)
  },
})

const assign = defineEndpoint({
  ...one,
  id: 'console.messenger.chats.assign',
  method: 'PATCH',
  path: '/console/messenger/chats/{id}',
  summary: 'Put an agent onto a chat, or take it off',
  description:
    'The agent reads the chat as a conversation of kind `person`, is told `message.created`, and a run of it begins with each ' +
    'message that comes in, with `audience: external`. What it writes is a draft until a person approves it. It needs ' +
    'chat:read and chat:write (`conflict`).',
  body: AssignAgent,
  response: ChatSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => assignAgent(work, caller, params.id, body.installation_id),
})

const messages = defineEndpoint({
  ...one,
  id: 'console.messenger.messages.list',
  method: 'GET',
  path: '/console/messenger/chats/{id}/messages',
  summary: 'List a chat’s messages and drafts, newest first',
  query: () => pageQuery({}),
  list: 'page',
  response: ChatMessageSchema,
  handler: async ({ work, caller, params, query }) => {
    const { dialog } = await chatOf(work, caller, params.id)
    return paged(
      work,
      caller,
      ['console.messenger.messages.list', dialog.id],
      query,
      (options) => chatMessages(work, dialog, options),
      presentChatMessage,
    )
  },
})

const write = defineEndpoint({
  ...one,
  id: 'console.messenger.messages.write',
  method: 'POST',
  path: '/console/messenger/chats/{id}/messages',
  summary: 'Write a message',
  description:
    'It goes out at once, after what waits before it in this chat; its status says what became of it. Text only, without ' +
    'markup. It is sent at most once: Telegram’s Bot API knows no repetition of the same request, so where it did not answer ' +
    'the status is `unknown`, and you decide whether to write it again. In a personal account’s chat Telegram allows answers ' +
    'within 24 hours of the last incoming message, and only with the right to reply (`conflict`).',
  body: WriteChatMessage,
  status: 201,
  response: ChatMessageSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => writeAsPerson(work, caller, params.id, body.text),
})

const approve = defineEndpoint({
  ...message,
  id: 'console.messenger.messages.approve',
  method: 'POST',
  path: '/console/messenger/messages/{id}/approve',
  summary: 'Approve an agent’s draft and send it',
  description: 'Anybody who sees the chat does. With `text` that is sent instead. A draft is decided once.',
  body: ApproveDraft,
  response: ChatMessageSchema,
  errors: ['conflict', 'approval_already_decided'],
  handler: ({ work, caller, params, body }) => approveDraft(work, caller, params.id, body.text),
})

const reject = defineEndpoint({
  ...message,
  id: 'console.messenger.messages.reject',
  method: 'POST',
  path: '/console/messenger/messages/{id}/reject',
  summary: 'Reject an agent’s draft',
  description: 'It is never sent, and stays in the chat as `rejected`.',
  response: ChatMessageSchema,
  errors: ['approval_already_decided'],
  handler: ({ work, caller, params }) => rejectDraft(work, caller, params.id),
})

export const chatEndpoints = [list, get, assign, messages, write, approve, reject]
