import * as z from 'zod'
import { agentChat } from '#shared/domain/conversations/chats.ts'
import {
  LISTED_KINDS,
  type ListedConversation,
  listForPerson,
  withAnswerers,
} from '#shared/domain/conversations/list-for-person.ts'
import { OpenChat, PersonConversationSchema, presentConversation } from '#shared/domain/conversations/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const present = ({ conversation, answered_by }: ListedConversation) => ({
  ...presentConversation(conversation),
  answered_by,
})

const list = defineEndpoint({
  id: 'console.conversations.list',
  group: 'console',
  method: 'GET',
  path: '/console/conversations',
  caller: 'console',
  summary: 'List your conversations',
  description:
    'Your main chat first, which is always there; then your chats with agents, and the conversations of the workspace’s ' +
    'tasks, each the newest first. Main and agent chats are yours alone: nobody else in the workspace reads them.',
  query: () =>
    pageQuery({
      kind: z.enum(LISTED_KINDS).optional().meta({ description: 'Only conversations of this kind.' }),
      installation_id: z
        .string()
        .optional()
        .meta({ description: 'Only those in which this agent takes part.', example: 'ins_01kae5m1v8w6c3x9q2r7t4y0zn' }),
    }),
  list: 'page',
  response: PersonConversationSchema,
  errors: ['not_found'],
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.conversations.list', query.kind ?? null, query.installation_id ?? null],
      query,
      (options) => listForPerson(work, caller, query, options),
      present,
    ),
})

const open = defineEndpoint({
  id: 'console.conversations.open',
  group: 'console',
  method: 'POST',
  path: '/console/conversations',
  caller: 'console',
  summary: 'Open a chat with an agent',
  description: 'You have one chat with each agent: opening it again gives the one that is there.',
  body: OpenChat,
  status: 201,
  response: PersonConversationSchema,
  errors: ['not_found'],
  handler: async ({ work, caller, body }) => {
    const conversation = await agentChat(work, caller, body.installation_id)
    const [listed] = await withAnswerers(work, caller, [conversation])
    const view = present(listed as ListedConversation)
    await work.commit([], view)
    return view
  },
})

export const conversationEndpoints = [list, open]
