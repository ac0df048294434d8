import { defineEndpoint } from '#shared/http/endpoint.ts'
import { wholeList } from '#shared/http/paging.ts'
import {
  endOtherSessions,
  endSessionById,
  listSessions,
  presentSession,
  SessionSchema,
} from '#shared/identity/people/index.ts'

const own = { group: 'console', caller: 'console', whileSuspended: true } as const

const list = defineEndpoint({
  ...own,
  id: 'console.sessions.list',
  method: 'GET',
  path: '/console/sessions',
  summary: 'List your sessions, newest first',
  description: 'Shows where you are signed in: browser, system, address and last use. Only you see them.',
  list: 'page',
  response: SessionSchema,
  handler: async ({ work, caller }) =>
    wholeList((await listSessions(work, caller)).map((session) => presentSession(session, caller.session))),
})

const endOthers = defineEndpoint({
  ...own,
  id: 'console.sessions.endOthers',
  method: 'DELETE',
  path: '/console/sessions',
  summary: 'Sign out everywhere else',
  description: 'Ends all of your sessions except the one that asks, in all workspaces, from their next request on.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller }) => {
    await endOtherSessions(work, caller)
    return undefined
  },
})

const end = defineEndpoint({
  ...own,
  id: 'console.sessions.end',
  method: 'DELETE',
  path: '/console/sessions/{id}',
  params: { id: 'session' },
  summary: 'Sign out one of your sessions',
  description: 'Its tokens are refused from the next request on, including those for other workspaces.',
  status: 204,
  handler: async ({ work, caller, params }) => {
    await endSessionById(work, { user: caller.user, workspace_id: caller.workspace.id }, params.id)
    return undefined
  },
})

export const endpoints = [list, endOthers, end]
