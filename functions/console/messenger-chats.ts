import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import {
  ApproveDraft,
  AssignAgent,
  approveDraft,
  assignAgent,
  listThreadMessages,
  listThreads,
  loadThread,
  presentThread,
  presentThreadMessage,
  rejectDraft,
  ThreadMessageSchema,
  ThreadSchema,
  WriteThreadMessage,
  writeAsPerson,
} from '#shared/messaging/messenger/index.ts'

const common = { group: 'console', caller: 'console' } as const
const thread = { ...common, params: { id: 'thread' } } as const
const message = { ...common, params: { id: 'message' } } as const

const list = defineEndpoint({
  ...common,
  id: 'console.messenger.chats.list',
  method: 'GET',
  path: '/console/messenger/chats',
  summary: 'List the messenger threads you can see, most recently active first',
  description:
    'Contains the threads of the workspace’s bots, of shared personal accounts and of your own account. A thread ' +
    'starts with the first message sent to the account. A thread that gets a new message while you page moves to the ' +
    'front.',
  query: () =>
    pageQuery({ account_id: z.string().max(64).optional().meta({ description: 'Only threads of this account.' }) }),
  list: {
    read: ({ work, caller, query }, page) => listThreads(work, caller, query.account_id, page),
    present: ({ account, thread }) => presentThread(account, thread),
  },
  response: ThreadSchema,
  errors: ['not_found'],
})

const get = defineEndpoint({
  ...thread,
  id: 'console.messenger.chats.get',
  method: 'GET',
  path: '/console/messenger/chats/{id}',
  summary: 'Get a messenger thread',
  response: ThreadSchema,
  handler: async ({ work, caller, params }) => {
    const { account, thread } = await loadThread(work, caller, params.id)
    return presentThread(account, thread)
  },
})

const assign = defineEndpoint({
  ...thread,
  id: 'console.messenger.chats.assign',
  method: 'PATCH',
  path: '/console/messenger/chats/{id}',
  summary: 'Assign an agent to a thread or unassign it',
  description:
    'The agent reads the thread as a conversation of kind `person` and gets `message.created` events. Each incoming ' +
    'message starts a run of the agent with `audience: external`. Its messages are drafts until a person approves ' +
    'them. The agent needs the scopes `chat:read` and `chat:write` (`conflict`).',
  body: AssignAgent,
  response: ThreadSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => assignAgent(work, caller, params.id, body.installation_id),
})

const messages = defineEndpoint({
  ...thread,
  id: 'console.messenger.messages.list',
  method: 'GET',
  path: '/console/messenger/chats/{id}/messages',
  summary: 'List a thread’s messages and drafts, newest first',
  list: {
    load: ({ work, caller, params }) => loadThread(work, caller, params.id),
    read: ({ work }, page, { thread }) => listThreadMessages(work, thread, page),
    present: presentThreadMessage,
  },
  response: ThreadMessageSchema,
})

const write = defineEndpoint({
  ...thread,
  id: 'console.messenger.messages.write',
  method: 'POST',
  path: '/console/messenger/chats/{id}/messages',
  summary: 'Send a message',
  description:
    'The message is sent immediately, after those that are already waiting in the thread. Its `status` shows the ' +
    'outcome. Messages are plain text, without markup. A message is sent at most once, because Telegram’s Bot API ' +
    'can’t detect a repeated request. If Telegram doesn’t answer, the status is `unknown`, and you decide whether to ' +
    'send the message again. In a thread of a personal account, Telegram allows answers only within 24 hours of the ' +
    'last incoming message, and only if the bot may reply (`conflict`).',
  body: WriteThreadMessage,
  status: 201,
  response: ThreadMessageSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => writeAsPerson(work, caller, params.id, body.text),
})

const approve = defineEndpoint({
  ...message,
  id: 'console.messenger.messages.approve',
  method: 'POST',
  path: '/console/messenger/messages/{id}/approve',
  summary: 'Approve an agent’s draft and send it',
  description:
    'Anyone who can see the thread can approve. Send `text` to replace the draft’s text. A draft can be decided only ' +
    'once.',
  body: ApproveDraft,
  response: ThreadMessageSchema,
  errors: ['conflict', 'approval_already_decided'],
  handler: ({ work, caller, params, body }) => approveDraft(work, caller, params.id, body.text),
})

const reject = defineEndpoint({
  ...message,
  id: 'console.messenger.messages.reject',
  method: 'POST',
  path: '/console/messenger/messages/{id}/reject',
  summary: 'Reject an agent’s draft',
  description: 'The draft is never sent, and stays in the thread as `rejected`.',
  response: ThreadMessageSchema,
  errors: ['approval_already_decided'],
  handler: ({ work, caller, params }) => rejectDraft(work, caller, params.id),
})

export const endpoints = [list, get, assign, messages, write, approve, reject]
