import { GrantSchema, presentGrant } from '#shared/domain/grants/present.ts'
import { listGrants } from '#shared/domain/grants/read.ts'
import { revokeGrant } from '#shared/domain/grants/revoke.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const list = defineEndpoint({
  id: 'console.grants.list',
  group: 'console',
  method: 'GET',
  path: '/console/grants',
  caller: 'console',
  summary: 'List what was granted to apps, newest first',
  description: 'Live grants only; a page may hold fewer than its limit.',
  query: () => pageQuery({}),
  list: 'page',
  response: GrantSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.grants.list'],
      query,
      (options) => listGrants(work, caller.workspace.id, options),
      ({ grant, installation, app }) => presentGrant(grant, installation, app),
    ),
})

const revoke = defineEndpoint({
  id: 'console.grants.revoke',
  group: 'console',
  method: 'DELETE',
  path: '/console/grants/{id}',
  params: { id: 'grant' },
  caller: 'console',
  summary: 'Take back what was granted',
  description:
    'Its access and refresh tokens are refused from the next request on. For the person who approved it, and for admins. ' +
    'The app stays installed, without access by this grant.',
  status: 204,
  errors: ['admin_required'],
  handler: async ({ work, caller, params }) => {
    await revokeGrant(work, caller.member, params.id)
    return undefined
  },
})

export const grantEndpoints = [list, revoke]
