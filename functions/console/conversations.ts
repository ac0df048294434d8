import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import { iso } from '#shared/kernel/clock.ts'
import { textOf } from '#shared/kernel/messages.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import {
  addAnswerers,
  LISTED_KINDS,
  type ListedConversation,
  listConversationsForPerson,
  loadConversationFor,
  markConversationRead,
  newAgentChat,
  openAgentChat,
} from '#shared/work/answering/index.ts'
import {
  type Conversation,
  MarkRead,
  OpenChat,
  PersonConversationSchema,
  presentConversation,
  presentMessage,
  previewOf,
  searchWords,
} from '#shared/work/conversations/index.ts'

const EXCERPT = 200

const excerptOf = (text: string): string => truncate(text.replaceAll(/\s+/g, ' ').trim(), EXCERPT)

const lastText = ({ last_parts, last_text = '' }: Conversation, locale: string): string =>
  last_parts ? previewOf(textOf(last_parts, locale)) : last_text

const present = ({ conversation, answered_by, unread, match }: ListedConversation, locale: string) => ({
  ...presentConversation(conversation),
  answered_by,
  last_message: conversation.last_author
    ? { author: conversation.last_author, text: lastText(conversation, locale) }
    : null,
  unread,
  match: match
    ? { message_id: match.id, text: excerptOf(presentMessage(match, locale).text), created_at: iso(match.created_at) }
    : null,
})

const list = defineEndpoint({
  id: 'console.conversations.list',
  group: 'console',
  method: 'GET',
  path: '/console/conversations',
  caller: 'console',
  summary: 'List your conversations',
  description:
    'Your main conversation always comes first. Then come your conversations with agents and the conversations of ' +
    'the workspace’s tasks, newest first in each group. Nobody else in the workspace can read your main conversation ' +
    'or your conversations with agents.\n\nWith `q`, lists those with a match among their 200 latest messages. A page ' +
    'looks through up to 50 conversations, so it can be short or empty while `has_more` is true, as with `kind` and ' +
    '`installation_id`.',
  query: () =>
    pageQuery({
      q: searchWords(),
      kind: z.enum(LISTED_KINDS).optional().meta({ description: 'Only conversations of this kind.' }),
      installation_id: z.string().optional().meta({
        description: 'Only conversations that this agent takes part in.',
        example: 'ins_01kae5m1v8w6c3x9q2r7t4y0zn',
      }),
    }),
  list: {
    read: ({ work, caller, query }, page) => listConversationsForPerson(work, caller, query, page),
    present: (listed, { caller }) => present(listed, caller.user.locale),
  },
  response: PersonConversationSchema,
  errors: ['not_found'],
})

const open = defineEndpoint({
  id: 'console.conversations.open',
  group: 'console',
  method: 'POST',
  path: '/console/conversations',
  caller: 'console',
  summary: 'Open a conversation with an agent',
  description:
    'Returns your first conversation with the agent, which is created when you first open it. `new: true` begins ' +
    'another one. The agent needs the scopes `chat:read` and `chat:write` (`conflict`).',
  body: OpenChat,
  status: 201,
  response: PersonConversationSchema,
  errors: ['not_found', 'access_withdrawn', 'conflict'],
  handler: async ({ work, caller, body }) => {
    const { conversation, writes } = body.new
      ? await newAgentChat(work, caller, body.installation_id)
      : { conversation: await openAgentChat(work, caller, body.installation_id), writes: [] }
    const [listed] = await addAnswerers(work, caller, [conversation])
    const view = present(listed as ListedConversation, caller.user.locale)
    await work.commit(writes, view)
    return view
  },
})

const read = defineEndpoint({
  id: 'console.conversations.read',
  group: 'console',
  method: 'GET',
  path: '/console/conversations/{id}',
  params: { id: 'conversation' },
  caller: 'console',
  summary: 'Get one of your conversations',
  response: PersonConversationSchema,
  handler: async ({ work, caller, params }) => {
    const [listed] = await addAnswerers(work, caller, [await loadConversationFor(work, caller, params.id)])
    return present(listed as ListedConversation, caller.user.locale)
  },
})

const markRead = defineEndpoint({
  id: 'console.conversations.markRead',
  group: 'console',
  method: 'PUT',
  path: '/console/conversations/{id}/read',
  params: { id: 'conversation' },
  caller: 'console',
  summary: 'Mark a conversation as read',
  description: 'Only you see what you have read. A later message makes the conversation unread again.',
  body: MarkRead,
  status: 204,
  handler: async ({ work, caller, params, body }): Promise<undefined> => {
    await markConversationRead(work, caller, params.id, body.message_id)
    return undefined
  },
})

export const endpoints = [list, open, read, markRead]
