import { changeRole } from '#shared/domain/people/change-role.ts'
import { listMembers } from '#shared/domain/people/members.ts'
import { presentMember } from '#shared/domain/people/present.ts'
import { removeMember } from '#shared/domain/people/remove-member.ts'
import { ChangeRole, MemberSchema } from '#shared/domain/people/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const list = defineEndpoint({
  id: 'console.members.list',
  group: 'console',
  method: 'GET',
  path: '/console/members',
  caller: 'console',
  summary: 'List who is in the workspace',
  description: 'Any member may read it. Those come first whose account is the oldest.',
  query: () => pageQuery({}),
  list: 'page',
  response: MemberSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.members.list'],
      query,
      (options) => listMembers(work, caller.workspace.id, options),
      ({ member, user }) => presentMember(member, user),
    ),
})

const changeRoleOf = defineEndpoint({
  id: 'console.members.changeRole',
  group: 'console',
  method: 'PATCH',
  path: '/console/members/{id}',
  params: { id: 'user' },
  caller: 'console',
  role: 'admin',
  summary: 'Give a member another role',
  description:
    'Nobody gives a role above their own, nor changes somebody above them: only owners make owners and unmake them. ' +
    'The last owner stays one (`conflict`), and one who is blocked counts for none. Invitations of somebody who loses the ' +
    'role for them die with it, for good.',
  body: ChangeRole,
  response: MemberSchema,
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
  summary: 'Remove a member, or leave',
  description:
    'With one’s own id: leaving, which those who are no admins do with `DELETE /console/workspace/membership`. The same rules as ' +
    'for roles; the last owner cannot leave (`conflict`). Sessions in this ' +
    'workspace end at the next request; what the person is in other workspaces stays.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await removeMember(work, caller.member, params.id)
    return undefined
  },
})

export const memberEndpoints = [list, changeRoleOf, remove]
