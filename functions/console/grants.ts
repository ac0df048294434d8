import { GrantSchema, listGrants, presentGrant, revokeGrant } from '#shared/access/grants/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const list = defineEndpoint({
  id: 'console.grants.list',
  group: 'console',
  method: 'GET',
  path: '/console/grants',
  caller: 'console',
  summary: 'List what apps were granted, newest first',
  description: 'Lists only active grants, so a page can have fewer items than its limit.',
  list: {
    read: ({ work, caller }, page) => listGrants(work, caller.workspace.id, page),
    present: ({ grant, installation, app }) => presentGrant(grant, installation, app),
  },
  response: GrantSchema,
})

const revoke = defineEndpoint({
  id: 'console.grants.revoke',
  group: 'console',
  method: 'DELETE',
  path: '/console/grants/{id}',
  params: { id: 'grant' },
  caller: 'console',
  summary: 'Revoke a grant',
  description:
    'The grant’s access and refresh tokens are refused from their next request. Available to admins and to the ' +
    'person who approved the grant. The app stays installed, but can’t use this grant.',
  status: 204,
  errors: ['admin_required'],
  handler: async ({ work, caller, params }) => {
    await revokeGrant(work, caller.member, params.id)
    return undefined
  },
})

export const endpoints = [list, revoke]
