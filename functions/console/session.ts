import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  ConsoleIdentitySchema,
  ConsoleSessionSchema,
  endSession,
  isSessionLive,
  listWorkspacesOf,
  ProvisionSession,
  presentIdentity,
  provisionSession,
  SwitchWorkspace,
  switchWorkspace,
} from '#shared/identity/people/index.ts'

const provision = defineEndpoint({
  id: 'console.session.provision',
  group: 'console',
  method: 'POST',
  path: '/console/session',
  caller: 'none',
  anonymous: 'signIn',
  summary: 'Sign in for local development',
  description:
    'Creates the person, the workspace and the membership if needed, and signs in. Disabled in production, where ' +
    'people sign in through the messenger.',
  body: ProvisionSession,
  status: 201,
  response: ConsoleSessionSchema,
  errors: ['console_provisioning_disabled', 'not_found'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:console', 'keys:public'],
  replays: (work, _caller, _body, _params, kept) => isSessionLive(work, kept),
  handler: ({ work, body }) => provisionSession(work, body),
})

const end = defineEndpoint({
  id: 'console.session.end',
  whileSuspended: true,
  group: 'console',
  method: 'DELETE',
  path: '/console/session',
  caller: 'console',
  summary: 'Sign out',
  description: 'Every token of the session is refused afterwards, including those for other workspaces.',
  status: 204,
  handler: async ({ work, caller }) => {
    await endSession(work, caller.session)
    return undefined
  },
})

const switchTo = defineEndpoint({
  id: 'console.session.switchWorkspace',
  whileSuspended: true,
  group: 'console',
  method: 'POST',
  path: '/console/session/workspace',
  caller: 'console',
  summary: 'Switch to another workspace',
  description:
    'Returns a token for that workspace in the same session, with the same expiry. The previous token still works in ' +
    'its own workspace; signing out ends both. Your next sign-in starts in this workspace. You can switch to a ' +
    'suspended workspace: check its `status`.',
  body: SwitchWorkspace,
  response: ConsoleSessionSchema,
  errors: ['not_found'],
  secret: true,
  needs: ['keys:console'],
  replays: (work, { session }, _body, _params, kept) => isSessionLive(work, kept, session),
  handler: ({ work, caller, body }) => switchWorkspace(work, caller, body.workspace_id),
})

const me = defineEndpoint({
  id: 'console.me.read',
  group: 'console',
  method: 'GET',
  path: '/console/me',
  caller: 'console',
  summary: 'Get the signed-in person, their workspaces and the current workspace’s restrictions',
  response: ConsoleIdentitySchema,
  handler: async ({ work, caller }) =>
    presentIdentity(caller.user, caller, await listWorkspacesOf(work, caller.user.id)),
})

export const endpoints = [provision, end, switchTo, me]
