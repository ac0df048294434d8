import { deleteWorkspace, restoreWorkspace } from '#shared/domain/people/delete-workspace.ts'
import { editWorkspace } from '#shared/domain/people/edit-workspace.ts'
import { removeMember } from '#shared/domain/people/remove-member.ts'
import { EditWorkspace, WorkspaceSchema } from '#shared/domain/people/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const common = { group: 'console', path: '/console/workspace', caller: 'console' } as const

const edit = defineEndpoint({
  ...common,
  id: 'console.workspace.edit',
  method: 'PATCH',
  role: 'admin',
  summary: 'Change the workspace’s name, language or time zone',
  description: 'What is not sent stays. Reviews that the organization wrote keep the name of when they were written.',
  body: EditWorkspace,
  response: WorkspaceSchema,
  errors: ['conflict'],
  handler: ({ work, caller, body }) => editWorkspace(work, caller, body),
})

const remove = defineEndpoint({
  ...common,
  id: 'console.workspace.delete',
  whileSuspended: true,
  method: 'DELETE',
  role: 'owner',
  summary: 'Delete the workspace, in 14 days',
  description:
    'At once its agents can do nothing: their tokens are refused with `installation_suspended`, runs are not handed on, webhooks ' +
    'are not delivered, nobody joins. People go on reading and writing, and an owner can take it back with ' +
    '`POST /console/workspace/restore`. After 14 days nobody gets in any more and everything in it is removed, objects ' +
    'included; the audit is kept for its 2 years. Sent again it changes nothing. A sandbox workspace cannot be deleted (`conflict`).',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller }) => {
    await deleteWorkspace(work, caller)
    return undefined
  },
})

const restore = defineEndpoint({
  ...common,
  id: 'console.workspace.restore',
  whileSuspended: true,
  method: 'POST',
  path: '/console/workspace/restore',
  role: 'owner',
  summary: 'Take the workspace’s deletion back',
  description: 'Within the 14 days. Agents work again with the tokens that they have. Otherwise `conflict`.',
  response: WorkspaceSchema,
  errors: ['conflict'],
  handler: ({ work, caller }) => restoreWorkspace(work, caller),
})

const leave = defineEndpoint({
  ...common,
  id: 'console.workspace.leave',
  whileSuspended: true,
  method: 'DELETE',
  path: '/console/workspace/membership',
  summary: 'Leave the workspace',
  description:
    'For everybody in it; the last owner makes somebody else an owner first (`conflict`). The session in this workspace ends at ' +
    'the next request; what one is in other workspaces stays.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller }) => {
    await removeMember(work, caller.member, caller.user.id)
    return undefined
  },
})

export const workspaceEndpoints = [edit, remove, restore, leave]
