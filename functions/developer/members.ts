import { defineEndpoint } from '#shared/http/endpoint.ts'
import { wholeList } from '#shared/http/paging.ts'
import {
  changeMemberRole,
  DeveloperMemberSchema,
  DeveloperSessionSchema,
  EditMember,
  InviteMember,
  inviteMember,
  JoinAccount,
  joinAccount,
  listMembers,
  removeMember,
} from '#shared/identity/developer-accounts/index.ts'
import { browserLanguage } from '#shared/kernel/messages.ts'

const common = { group: 'developer', caller: 'developer' } as const

const list = defineEndpoint({
  ...common,
  id: 'developer.members.list',
  method: 'GET',
  path: '/api/v1/dev/members',
  summary: 'List the teammates of your account',
  description: 'In the order in which they were invited, open invitations included.',
  list: 'page',
  response: DeveloperMemberSchema,
  handler: async ({ work, caller }) => wholeList(await listMembers(work, caller.developerId)),
})

const invite = defineEndpoint({
  ...common,
  id: 'developer.members.invite',
  method: 'POST',
  path: '/api/v1/dev/members',
  role: 'owner',
  summary: 'Invite a teammate by e-mail',
  description:
    'Sends a link that works once, within 7 days. Inviting the same address again replaces the link and the role. An ' +
    'account can have up to 10 teammates, and an address belongs to one account (`conflict`). The account’s own ' +
    'address must be confirmed.',
  body: InviteMember,
  status: 201,
  response: DeveloperMemberSchema,
  errors: ['email_not_verified', 'conflict', 'mail_not_configured'],
  needs: ['mail', 'keys:data'],
  handler: ({ work, caller, body, request }) => inviteMember(work, caller.root, body, browserLanguage(request.headers)),
})

const edit = defineEndpoint({
  ...common,
  id: 'developer.members.edit',
  method: 'PATCH',
  path: '/api/v1/dev/members/{id}',
  params: { id: 'developerMember' },
  role: 'owner',
  summary: 'Change a teammate’s role',
  description: 'Their open sessions have the new role from the next request. An account keeps an owner (`conflict`).',
  body: EditMember,
  response: DeveloperMemberSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => changeMemberRole(work, caller.developerId, params.id, body.role),
})

const remove = defineEndpoint({
  ...common,
  id: 'developer.members.remove',
  method: 'DELETE',
  path: '/api/v1/dev/members/{id}',
  params: { id: 'developerMember' },
  // Everyone may leave.
  role: 'viewer',
  summary: 'Remove a teammate, or leave the account',
  description:
    'Their sessions end at once, and their passkeys and links stop working. Keys that they know stay: delete or rotate ' +
    'them. Only owners remove others (`forbidden`). An account keeps an owner (`conflict`).',
  status: 204,
  errors: ['forbidden', 'conflict'],
  handler: async ({ work, caller, params }) => {
    await removeMember(work, caller.developerId, params.id, { role: caller.role, memberId: caller.member?.id })
    return undefined
  },
})

const join = defineEndpoint({
  id: 'developer.members.join',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/members/join',
  caller: 'none',
  anonymous: 'signIn',
  summary: 'Accept an invitation to a developer account',
  description: 'Signs in to the portal. The invited address counts as confirmed, and can sign in.',
  body: JoinAccount,
  status: 201,
  response: DeveloperSessionSchema,
  errors: ['forbidden', 'not_a_developer', 'conflict'],
  secret: true,
  needs: ['table:read', 'table:write'],
  handler: ({ work, body }) => joinAccount(work, body),
})

export const endpoints = [list, invite, edit, remove, join]
