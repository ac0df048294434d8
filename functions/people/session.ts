import { presentIdentity } from '#shared/domain/people/present.ts'
import { provisionSession } from '#shared/domain/people/provision.ts'
import { ConsoleIdentitySchema, ConsoleSessionSchema, ProvisionSession } from '#shared/domain/people/schemas.ts'
import { endSession } from '#shared/domain/people/sessions.ts'
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
  handler: ({ work, body }) => provisionSession(work, body),
})

const end = defineEndpoint({
  id: 'console.session.end',
  group: 'console',
  method: 'DELETE',
  path: '/console/session',
  caller: 'console',
  summary: 'Sign out',
  description: 'The session’s token is refused from then on.',
  status: 204,
  handler: async ({ work, caller }) => {
    await endSession(work, caller.session)
    return undefined
  },
})

const me = defineEndpoint({
  id: 'console.me.read',
  group: 'console',
  method: 'GET',
  path: '/console/me',
  caller: 'console',
  summary: 'Who is signed in, where, and what admins forbade there',
  response: ConsoleIdentitySchema,
  handler: async ({ caller }) => presentIdentity(caller.user, caller),
})

export const sessionEndpoints = [provision, end, me]
