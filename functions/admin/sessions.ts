import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery, readOffsetPage } from '#shared/http/offset-paging.ts'
import {
  type AdminSession,
  AdminSessionSchema,
  endAdminSession,
  endAllSessions,
  endOtherSessions,
  listAdminSessions,
  presentAdminSession,
  requireSession,
} from '#shared/staff/admins/index.ts'

const common = { group: 'admin', caller: 'admin' } as const

const page = (query: { limit: number; offset: number }, all: AdminSession[], current: AdminSession | undefined) =>
  readOffsetPage(
    query,
    async () => all.length,
    async ({ limit, offset }) => all.slice(offset, offset + limit),
    (session) => presentAdminSession(session, current),
  )

const signOut = defineEndpoint({
  ...common,
  id: 'admin.sessions.signOut',
  method: 'DELETE',
  path: '/admin/session',
  role: 'moderator',
  whileSigningIn: true,
  summary: 'Sign out',
  description: 'The token is refused from its next request.',
  status: 204,
  errors: ['forbidden', 'not_found'],
  handler: async ({ work, caller }) => {
    const { admin, session } = requireSession(caller)
    await endAdminSession(work, caller, admin.id, session.id)
    return undefined
  },
})

const list = defineEndpoint({
  ...common,
  id: 'admin.sessions.list',
  method: 'GET',
  path: '/admin/me/sessions',
  role: 'moderator',
  summary: 'List where you are signed in, newest first',
  query: () => offsetQuery({}),
  list: 'offset',
  response: AdminSessionSchema,
  handler: async ({ work, caller, query }) =>
    page(query, await listAdminSessions(work, caller.admin.id), caller.session),
})

const end = defineEndpoint({
  ...common,
  id: 'admin.sessions.end',
  method: 'DELETE',
  path: '/admin/me/sessions/{id}',
  params: { id: 'adminSession' },
  role: 'moderator',
  summary: 'Sign out one of your sessions',
  description: 'Its token is refused from its next request.',
  status: 204,
  handler: async ({ work, caller, params }) => {
    await endAdminSession(work, caller, caller.admin.id, params.id)
    return undefined
  },
})

const endOthers = defineEndpoint({
  ...common,
  id: 'admin.sessions.endOthers',
  method: 'DELETE',
  path: '/admin/me/sessions',
  role: 'moderator',
  summary: 'Sign out all your other sessions',
  description: 'Admin keys of the account keep working.',
  status: 204,
  errors: ['forbidden', 'conflict'],
  handler: async ({ work, caller }) => {
    await endOtherSessions(work, requireSession(caller))
    return undefined
  },
})

const listOf = defineEndpoint({
  ...common,
  id: 'admin.sessions.listOf',
  method: 'GET',
  path: '/admin/admins/{id}/sessions',
  params: { id: 'admin' },
  role: 'superadmin',
  summary: 'List where an admin is signed in, newest first',
  query: () => offsetQuery({}),
  list: 'offset',
  response: AdminSessionSchema,
  handler: async ({ work, caller, params, query }) =>
    page(query, await listAdminSessions(work, params.id), caller.session),
})

const endAll = defineEndpoint({
  ...common,
  id: 'admin.sessions.endAll',
  method: 'DELETE',
  path: '/admin/admins/{id}/sessions',
  params: { id: 'admin' },
  role: 'superadmin',
  summary: 'Sign an admin out everywhere',
  description: 'Their tokens are refused from the next request. Admin keys of the account keep working.',
  status: 204,
  handler: async ({ work, caller, params }) => {
    await endAllSessions(work, caller, params.id)
    return undefined
  },
})

export const endpoints = [signOut, list, end, endOthers, listOf, endAll]
