import { workspacesOf } from '#shared/domain/people/memberships.ts'
import { presentIdentity } from '#shared/domain/people/present.ts'
import { provisionSession } from '#shared/domain/people/provision.ts'
import {
  ConsoleIdentitySchema,
  ConsoleSessionSchema,
  ProvisionSession,
  SwitchWorkspace,
} from '#shared/domain/people/schemas.ts'
import { endSession, sessionStillLives } from '#shared/domain/people/sessions.ts'
import { switchWorkspace } from '#shared/domain/people/switch-workspace.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const provision = defineEndpoint({
  id: 'console.session.provision',
  group: 'console',
  method: 'POST',
  path: '/console/session',
  caller: 'none',
  summary: 'Sign in for local development',
  description:
    'Makes the person, the workspace and the membership as needed and signs in. Closed in production: people sign in ' +
    'through the messaging app there.',
  body: ProvisionSession,
  status: 201,
  response: ConsoleSessionSchema,
  errors: ['console_provisioning_disabled', 'not_found'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:tokens'],
  replays: (work, _caller, _body, _params, kept) => sessionStillLives(work, kept),
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
  description: 'Every token of the session is refused from then on, those for other workspaces too.',
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
  summary: 'Go on in another workspace',
  description:
    'Answers a token for that workspace, within the same session and its time. The token of before goes on working where ' +
    'it was issued for; signing out ends both. The next sign-in starts in this workspace. A suspended one can be entered: ' +
    'its `status` says so.',
  body: SwitchWorkspace,
  response: ConsoleSessionSchema,
  errors: ['not_found'],
  secret: true,
  needs: ['keys:tokens'],
  replays: (work, { session }, _body, _params, kept) => sessionStillLives(work, kept, session),
  handler: ({ work, caller, body }) => switchWorkspace(work, caller, body.workspace_id),
})

const me = defineEndpoint({
  id: 'console.me.read',
  group: 'console',
  method: 'GET',
  path: '/console/me',
  caller: 'console',
  summary: 'Who is signed in, where, what admins forbade there, and the person’s other workspaces',
  response: ConsoleIdentitySchema,
  handler: async ({ work, caller }) => presentIdentity(caller.user, caller, await workspacesOf(work, caller.user.id)),
})

export const sessionEndpoints = [provision, end, switchTo, me]
