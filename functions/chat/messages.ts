import { conversationFor } from '#shared/domain/conversations/chats.ts'
import { listMessages } from '#shared/domain/conversations/read.ts'
import { say } from '#shared/domain/conversations/say.ts'
import { MessageSchema, presentMessage, SayMessage } from '#shared/domain/conversations/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const common = {
  group: 'console',
  path: '/console/conversations/{id}/messages',
  params: { id: 'conversation' },
  caller: 'console',
  response: MessageSchema,
} as const

const list = defineEndpoint({
  ...common,
  id: 'console.conversations.messages.list',
  method: 'GET',
  summary: 'List a conversation’s messages, newest first',
  query: () => pageQuery({}),
  list: 'page',
  handler: async ({ work, caller, params, query }) => {
    const { id } = await conversationFor(work, caller, params.id)
    return paged(
      work,
      caller,
      ['console.conversations.messages.list', id],
      query,
      (options) => listMessages(work, id, options),
      presentMessage,
    )
  },
})

const write = defineEndpoint({
  ...common,
  id: 'console.conversations.messages.write',
  method: 'POST',
  summary: 'Write a message',
  description:
    'In a chat each message starts one run of whoever answers: the agent, or in the main chat the platform’s orchestrator. ' +
    '`run_id` names it, so that `GET /console/runs/{id}/stream` shows it at work; what it comes to is a message with the ' +
    'same `run_id`: the output’s `text`, else the output as JSON, else, where the agent wrote messages of its own, nothing ' +
    'more. A failed run says so in words, with its code in `error_code` (`llm_not_configured` where the platform has no ' +
    'language model); one that waits for your approval says what for, with `approval`.\n\n' +
    'Messages are answered one after the other: one that is written while a run is under way waits, with `run_id` null ' +
    'until its turn. So does one for an agent that has five active runs; after 15 minutes without room it gets ' +
    '`too_many_active_runs` as its answer. The run is yours alone, as the chat is.\n\n' +
    'In a task’s conversation this is `POST /console/tasks/{id}/messages`.',
  body: SayMessage,
  status: 201,
  errors: ['conflict', 'installation_suspended', 'app_suspended', 'too_many_active_runs'],
  needs: ['objects:read', 'objects:write'],
  handler: ({ work, caller, params, body }) => say(work, caller, params.id, body),
})

export const messageEndpoints = [list, write]
