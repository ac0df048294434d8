import { defineEndpoint } from '#shared/http/endpoint.ts'
import { EditProfile, editProfile, UserSchema } from '#shared/identity/people/index.ts'
import { deleteAccount } from '#shared/lifecycle/people/index.ts'

const common = { group: 'console', path: '/console/me', caller: 'console' } as const

const edit = defineEndpoint({
  ...common,
  id: 'console.me.edit',
  whileSuspended: true,
  method: 'PATCH',
  summary: 'Update your name, language or time zone',
  description: 'Fields that you leave out don’t change.',
  body: EditProfile,
  response: UserSchema,
  handler: ({ work, caller, body }) => editProfile(work, caller.user, body),
})

const remove = defineEndpoint({
  ...common,
  id: 'console.me.delete',
  whileSuspended: true,
  method: 'DELETE',
  summary: 'Delete your account',
  description:
    'Takes effect immediately and can’t be undone: every session ends, and signing in again with the same messenger ' +
    'identity creates a new account. Within minutes, your main conversations, conversations with agents, personal ' +
    'messenger accounts, votes and notifications are deleted, including in workspaces you left earlier. From 15 ' +
    'minutes later, “Deleted user” replaces your name everywhere, including in events. What remains of those ' +
    'conversations loses its content: runs lose their input, output and steps (active runs are cancelled), and ' +
    'events lose their text. In a large workspace this takes hours. A workspace with no other members is deleted ' +
    'after the usual 14 days. If you are the last owner of a workspace with other members, make another member an ' +
    'owner first (`conflict`, with `details.workspaces`).',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller }) => {
    await deleteAccount(work, caller)
    return undefined
  },
})

export const endpoints = [edit, remove]
