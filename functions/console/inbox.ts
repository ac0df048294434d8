import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { wholeList } from '#shared/http/paging.ts'
import { listWaiting, WaitingItemSchema } from '#shared/messaging/waiting/index.ts'
import { Snooze, snooze } from '#shared/work/desk/index.ts'

const list = defineEndpoint({
  id: 'console.inbox.list',
  group: 'console',
  method: 'GET',
  path: '/console/inbox',
  caller: 'console',
  summary: 'List all that waits for you',
  description:
    'Calls that wait for approval, agents’ questions, tasks that need an answer or a review, and drafts, at most 100 of ' +
    'each: first what expires, the soonest first, then the rest, the oldest first.',
  list: 'page',
  response: WaitingItemSchema,
  needs: ['objects:read'],
  handler: async ({ work, caller }) => wholeList(await listWaiting(work, caller)),
})

const setSnoozes = defineEndpoint({
  id: 'console.inbox.snooze',
  group: 'console',
  method: 'PUT',
  path: '/console/inbox/snoozes',
  caller: 'console',
  summary: 'Put waiting items aside until later',
  description: 'Only for you: others see them as before, and they expire as before. At most 300 at a time.',
  body: Snooze,
  response: () => z.object({}).meta({ id: 'Snoozed', description: 'Always empty.' }),
  errors: ['conflict'],
  handler: ({ work, caller, body }) =>
    snooze(work, { workspace_id: caller.workspace.id, user_id: caller.user.id }, body),
})

export const endpoints = [list, setSnoozes]
