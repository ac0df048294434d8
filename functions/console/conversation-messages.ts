import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import { loadConversationFor, postMessage } from '#shared/work/answering/index.ts'
import {
  listMessages,
  MessageSchema,
  presentMessage,
  SayMessage,
  searchMessages,
  searchWords,
} from '#shared/work/conversations/index.ts'

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
  summary: 'List or search a conversation’s messages, newest first',
  description:
    'With `q`, a page looks through up to 2,000 messages. It can be short or empty while `has_more` is true; continue ' +
    'with its cursor.',
  query: () => pageQuery({ q: searchWords() }),
  list: {
    load: ({ work, caller, params }) => loadConversationFor(work, caller, params.id),
    read: ({ work, query: { q } }, page, { id }) =>
      q === undefined ? listMessages(work, id, page) : searchMessages(work, id, q, page),
    present: (message, { caller }) => presentMessage(message, caller.user.locale),
  },
})

const write = defineEndpoint({
  ...common,
  id: 'console.conversations.messages.write',
  method: 'POST',
  summary: 'Send a message',
  description:
    'Each message starts one run of the agent that answers it; in the main conversation, that is the platform’s ' +
    'orchestrator unless the workspace chose an agent. Messages are answered one at a time: one sent while a run is active ' +
    'waits, and so does one to an agent with five active runs, which is answered with `too_many_active_runs` after 15 ' +
    'minutes. Like the conversation, the run is visible only to you.\n\nWith `mention`, another agent answers this one ' +
    'message, without the rest of the conversation. In a task’s conversation, this is the same as `POST ' +
    '/console/tasks/{id}/messages`, and agents can’t be mentioned.',
  answers:
    'The message. Its `run_id` names the run, to follow with `GET /console/runs/{id}/stream`; null until its turn. The ' +
    'answer is a message with the same `run_id`: the output’s `text`, or else the output as JSON. If the agent sent messages ' +
    'of its own and the output has no `text`, none follows. A failed run is answered with an explanation and its code in ' +
    '`error_code` (`llm_not_configured` if the platform has no language model). One that waits for your approval says what ' +
    'for, in `approval`.',
  body: SayMessage,
  status: 201,
  errors: [
    'not_found',
    'conflict',
    'installation_suspended',
    'access_withdrawn',
    'app_suspended',
    'too_many_active_runs',
    'budget_exceeded',
  ],
  needs: ['objects:read', 'objects:write', 'queue:dispatch'],
  handler: ({ work, caller, params, body }) => postMessage(work, caller, params.id, body),
})

export const endpoints = [list, write]
