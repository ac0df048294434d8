import { defineEndpoint } from '#shared/http/endpoint.ts'
import { wholeList } from '#shared/http/paging.ts'
import {
  endListedSession,
  endOtherDeveloperSessions,
  ListedSessionSchema,
  listDeveloperSessions,
} from '#shared/identity/developer-accounts/index.ts'

// Everyone may end their own sessions. Owners see and end those of the account.
const own = { group: 'developer', caller: 'developer', role: 'viewer' } as const

const list = defineEndpoint({
  ...own,
  id: 'developer.sessions.list',
  method: 'GET',
  path: '/api/v1/dev/sessions',
  summary: 'List sessions of the developer portal, newest first',
  description:
    'Shows who signed in by what, from where, since when, and the last use. Owners see those of the whole account, ' +
    'others those of their own key or sign-in.',
  list: 'page',
  response: ListedSessionSchema,
  handler: async ({ work, caller }) => wholeList(await listDeveloperSessions(work, caller)),
})

const endOthers = defineEndpoint({
  ...own,
  id: 'developer.sessions.endOthers',
  method: 'DELETE',
  path: '/api/v1/dev/sessions',
  summary: 'End all other sessions',
  description: 'Ends every session that you can list, except the one that asks, from its next request on.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller }) => {
    await endOtherDeveloperSessions(work, caller)
    return undefined
  },
})

const end = defineEndpoint({
  ...own,
  id: 'developer.sessions.end',
  method: 'DELETE',
  path: '/api/v1/dev/sessions/{id}',
  params: { id: 'developerKey' },
  summary: 'End a session',
  description: 'It is refused from its next request on, with the sandbox tokens and consoles that it opened.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await endListedSession(work, caller, params.id)
    return undefined
  },
})

export const endpoints = [list, endOthers, end]
