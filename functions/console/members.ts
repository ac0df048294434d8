import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  ChangeRole,
  ConsoleMemberSchema,
  changeRole,
  listMembers,
  presentConsoleMember,
} from '#shared/identity/people/index.ts'
import { removeMember } from '#shared/lifecycle/people/index.ts'

const list = defineEndpoint({
  id: 'console.members.list',
  group: 'console',
  method: 'GET',
  path: '/console/members',
  caller: 'console',
  summary: 'List the workspace’s members',
  description: 'Available to every member. The oldest accounts come first.',
  list: {
    read: ({ work, caller }, page) => listMembers(work, caller.workspace.id, page),
    present: ({ member, user }) => presentConsoleMember(member, user),
  },
  response: ConsoleMemberSchema,
})

const changeRoleOf = defineEndpoint({
  id: 'console.members.changeRole',
  group: 'console',
  method: 'PATCH',
  path: '/console/members/{id}',
  params: { id: 'user' },
  caller: 'console',
  role: 'admin',
  summary: 'Change a member’s role',
  description:
    'You can’t assign a role above your own or change a member above you, so only owners can add and remove owners. ' +
    'The last owner can’t be demoted (`conflict`); blocked owners don’t count. If a member loses the role needed to ' +
    'invite, their invitations stop working for good.',
  body: ChangeRole,
  response: ConsoleMemberSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => changeRole(work, caller.member, params.id, body.role),
})

const remove = defineEndpoint({
  id: 'console.members.remove',
  group: 'console',
  method: 'DELETE',
  path: '/console/members/{id}',
  params: { id: 'user' },
  caller: 'console',
  role: 'admin',
  summary: 'Remove a member or leave the workspace',
  description:
    'Send your own ID to leave. Members who aren’t admins leave with `DELETE /console/workspace/membership`. The ' +
    'rules for roles apply here as well, and the last owner can’t leave (`conflict`). The person’s sessions in this ' +
    'workspace end at their next request. Their other workspaces aren’t affected.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await removeMember(work, caller.member, params.id)
    return undefined
  },
})

export const endpoints = [list, changeRoleOf, remove]
