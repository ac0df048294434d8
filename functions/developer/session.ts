import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  DeveloperSessionSchema,
  endDeveloperSession,
  RecoverAccount,
  RecoveryAcceptedSchema,
  requestSignIn,
  StartSession,
  startDeveloperSession,
} from '#shared/identity/developer-accounts/index.ts'
import { browserLanguage } from '#shared/kernel/messages.ts'

const signIn = defineEndpoint({
  id: 'developer.session.request',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/sign-in',
  caller: 'none',
  anonymous: 'register',
  summary: 'Send a sign-in link by e-mail',
  description:
    'Sends a link to the developer portal to the account’s address. It works once, within an hour. The response is ' +
    'the same if there is no such account.',
  body: RecoverAccount,
  response: RecoveryAcceptedSchema,
  errors: ['mail_not_configured'],
  needs: ['table:read', 'table:write', 'keys:data', 'mail'],
  handler: ({ work, body, request }) => requestSignIn(work, body.email, browserLanguage(request.headers)),
})

const start = defineEndpoint({
  id: 'developer.session.start',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/session',
  caller: 'none',
  anonymous: 'signIn',
  summary: 'Sign in to the developer portal',
  description:
    'Exchanges a developer key, or the code of a sign-in link, for a session key, so that a browser stores no key ' +
    'that lasts. A person has up to 10 sessions: a further one ends the oldest. A first sign-in by e-mail confirms ' +
    'the address and ends every earlier key.',
  body: StartSession,
  status: 201,
  response: DeveloperSessionSchema,
  errors: ['unauthorized', 'forbidden', 'not_a_developer', 'conflict'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:data'],
  handler: ({ work, body, request }) => startDeveloperSession(work, body, browserLanguage(request.headers)),
})

const end = defineEndpoint({
  id: 'developer.session.end',
  group: 'developer',
  method: 'DELETE',
  path: '/api/v1/dev/session',
  caller: 'developer',
  role: 'viewer',
  summary: 'Sign out of the developer portal',
  description: 'Ends the session key of this request. Other keys get `conflict`.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, request: { headers } }) => {
    await endDeveloperSession(work, caller.developerId, headers['x-developer-key'] ?? '')
    return undefined
  },
})

export const endpoints = [signIn, start, end]
