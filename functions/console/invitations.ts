import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  InvitationSchema,
  Invite,
  IssuedInvitationSchema,
  invite,
  listInvitations,
  revokeInvitation,
} from '#shared/identity/people/index.ts'

const create = defineEndpoint({
  id: 'console.invitations.create',
  group: 'console',
  method: 'POST',
  path: '/console/invitations',
  caller: 'console',
  role: 'admin',
  summary: 'Invite a person to the workspace',
  description:
    'An invitation works once, for one person. `start_parameter` is shown only once. To build the link, add ' +
    '`?start=<start_parameter>` to the `url` from `GET /console/bot/info`. Opening the link shows the workspace and ' +
    'asks the person to join. The invitation stops working when its inviter leaves or loses the role needed to ' +
    'invite.',
  body: Invite,
  status: 201,
  response: IssuedInvitationSchema,
  errors: ['forbidden'],
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
  summary: 'List open invitations, newest first',
  description:
    'Invitations that were used, have expired or lost their inviter are left out, so a page can have fewer items ' +
    'than its limit. The start parameter isn’t shown again.',
  list: {
    read: ({ work, caller }, page) => listInvitations(work, caller.workspace.id, page),
    present: (invitation) => invitation,
  },
  response: InvitationSchema,
})

const revoke = defineEndpoint({
  id: 'console.invitations.revoke',
  group: 'console',
  method: 'DELETE',
  path: '/console/invitations/{id}',
  params: { id: 'invitation' },
  caller: 'console',
  role: 'admin',
  summary: 'Revoke an invitation',
  description: 'Its link stops working.',
  status: 204,
  handler: async ({ work, caller, params }) => {
    await revokeInvitation(work, caller.member, params.id)
    return undefined
  },
})

export const endpoints = [create, list, revoke]
