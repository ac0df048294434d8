import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  deleteWorkspace,
  EditWorkspace,
  editWorkspace,
  restoreWorkspace,
  WorkspaceSchema,
} from '#shared/identity/people/index.ts'
import { removeMember } from '#shared/lifecycle/people/index.ts'

const common = { group: 'console', path: '/console/workspace', caller: 'console' } as const

const edit = defineEndpoint({
  ...common,
  id: 'console.workspace.edit',
  method: 'PATCH',
  role: 'admin',
  summary: 'Update the workspace’s name, language or time zone',
  description: 'Fields that you leave out don’t change. Reviews keep the workspace name from when they were written.',
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
  summary: 'Schedule the workspace for deletion in 14 days',
  description:
    'Agents stop immediately: their tokens are refused with `installation_suspended`, they get no runs or webhooks, ' +
    'and nobody can join the workspace. People can still read and write, and an owner can cancel the deletion with ' +
    '`POST /console/workspace/restore`. After 14 days, nobody can enter the workspace and everything in it is ' +
    'deleted, including stored objects. The audit is kept for its 2 years. Repeating the request has no effect. A ' +
    'sandbox workspace can’t be deleted (`conflict`).',
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
  summary: 'Cancel the workspace’s deletion',
  description:
    'Possible within the 14 days; otherwise the response is `conflict`. Agents work again with their existing tokens.',
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
    'Available to every member. If you are the last owner, make another member an owner first (`conflict`). Your ' +
    'session in this workspace ends at its next request. Your other workspaces aren’t affected.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller }) => {
    await removeMember(work, caller.member, caller.user.id)
    return undefined
  },
})

export const endpoints = [edit, remove, restore, leave]
