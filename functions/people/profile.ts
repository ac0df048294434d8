import { deleteAccount } from '#shared/domain/people/delete-account.ts'
import { editProfile } from '#shared/domain/people/profile.ts'
import { EditProfile, UserSchema } from '#shared/domain/people/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const common = { group: 'console', path: '/console/me', caller: 'console' } as const

const edit = defineEndpoint({
  ...common,
  id: 'console.me.edit',
  whileSuspended: true,
  method: 'PATCH',
  summary: 'Change one’s name, language or time zone',
  description: 'What is not sent stays.',
  body: EditProfile,
  response: UserSchema,
  handler: ({ work, caller, body }) => editProfile(work, caller.user, body),
})

const remove = defineEndpoint({
  ...common,
  id: 'console.me.delete',
  whileSuspended: true,
  method: 'DELETE',
  summary: 'Delete one’s account',
  description:
    'At once and for good: every session ends, and whoever signs in with the same messaging-app identity later is a new person. ' +
    'Main chats, chats with agents, personal messenger accounts, votes and notifications are removed within minutes, also in ' +
    'workspaces that the person left before. From 15 minutes after on, “Deleted user” takes the name’s place wherever it stands, ' +
    'in events too, and what those chats left loses what was said: their runs keep neither input, output nor steps (one that is ' +
    'still active is cancelled), their events no text. In a large workspace that takes hours. A workspace that nobody else is in ' +
    'is deleted with its 14 days. The last owner of a workspace with others in it has to make somebody else an owner first ' +
    '(`conflict`, with `details.workspaces`).',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller }) => {
    await deleteAccount(work, caller)
    return undefined
  },
})

export const profileEndpoints = [edit, remove]
