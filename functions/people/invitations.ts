import { invite, listInvitations, revokeInvitation } from '#shared/domain/people/invite.ts'
import { InvitationSchema, Invite, IssuedInvitationSchema } from '#shared/domain/people/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const create = defineEndpoint({
  id: 'console.invitations.create',
  group: 'console',
  method: 'POST',
  path: '/console/invitations',
  caller: 'console',
  role: 'admin',
  summary: 'Invite somebody into the workspace',
  description:
    'Good for one person, once. `start_parameter` is shown this once; the link to send is `url` of ' +
    '`GET /console/bot/info` with `?start=<start_parameter>`. Opening it shows the workspace and asks. The invitation ' +
    'dies when its inviter leaves or loses the role for it.',
  body: Invite,
  status: 201,
  response: IssuedInvitationSchema,
  secret: true,
  handler: ({ work, caller, body }) => invite(work, caller, body),
})

const list = defineEndpoint({
  id: 'console.invitations.list',
  group: 'console',
  method: 'GET',
  path: '/console/invitations',
  caller: 'console',
  role: 'admin',
  summary: 'List invitations that can still be used, newest first',
  description:
    'What was used, has expired or lost its inviter is left out, so a page may hold fewer than its limit. The start ' +
    'parameter is not shown again.',
  query: () => pageQuery({}),
  list: 'page',
  response: InvitationSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.invitations.list'],
      query,
      (options) => listInvitations(work, caller.workspace.id, options),
      (invitation) => invitation,
    ),
})

const revoke = defineEndpoint({
  id: 'console.invitations.revoke',
  group: 'console',
  method: 'DELETE',
  path: '/console/invitations/{id}',
  params: { id: 'invitation' },
  caller: 'console',
  role: 'admin',
  summary: 'Take an invitation back',
  description: 'Its link is dead from then on.',
  status: 204,
  handler: async ({ work, caller, params }) => {
    await revokeInvitation(work, caller.member, params.id)
    return undefined
  },
})

export const invitationEndpoints = [create, list, revoke]
