import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  ConfirmEmail,
  DeveloperSchema,
  EmailProofSchema,
  loadDeveloper,
  proveEmail,
  RecoverAccount,
  RecoveredSchema,
  RecoveryAcceptedSchema,
  recoverKey,
  requestEmailProof,
  requestRecovery,
} from '#shared/identity/developer-accounts/index.ts'
import { browserLanguage } from '#shared/kernel/messages.ts'

const requestProof = defineEndpoint({
  id: 'developer.email.requestProof',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/me/email-proof',
  caller: 'developer',
  summary: 'Send a code to your email address',
  description: 'A code works once, within an hour. An account gets 5 e-mails at once, and one more every 12 minutes.',
  response: EmailProofSchema,
  errors: ['conflict', 'mail_not_configured'],
  needs: ['mail'],
  handler: async ({ work, caller, request }) =>
    requestEmailProof(work, await loadDeveloper(work, caller.developerId), browserLanguage(request.headers)),
})

const confirmProof = defineEndpoint({
  id: 'developer.email.confirmProof',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/me/email-proof/confirm',
  caller: 'developer',
  summary: 'Confirm your email address',
  description: 'Most deployments require a confirmed address before an app can be submitted for review.',
  body: ConfirmEmail,
  response: DeveloperSchema,
  errors: ['forbidden'],
  handler: ({ work, caller, body }) => proveEmail(work, caller.credential, body.token),
})

const recover = defineEndpoint({
  id: 'developer.account.recover',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/recover',
  caller: 'none',
  anonymous: 'register',
  summary: 'Recover a lost developer key by e-mail',
  description: 'Sends a code to the account’s address. The response is the same if there is no such account.',
  body: RecoverAccount,
  response: RecoveryAcceptedSchema,
  errors: ['mail_not_configured'],
  needs: ['table:read', 'table:write', 'keys:data', 'mail'],
  handler: ({ work, body, request }) => requestRecovery(work, body.email, browserLanguage(request.headers)),
})

const confirmRecovery = defineEndpoint({
  id: 'developer.account.confirmRecovery',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/recover/confirm',
  caller: 'none',
  anonymous: 'register',
  summary: 'Get a new developer key for a code',
  description:
    'Every earlier key of the account ends, named keys included. The new key is shown only once, and the account’s ' +
    'e-mail address counts as confirmed.',
  body: ConfirmEmail,
  response: RecoveredSchema,
  errors: ['forbidden', 'not_a_developer', 'conflict'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:data'],
  handler: ({ work, body }) => recoverKey(work, body.token),
})

export const endpoints = [requestProof, confirmProof, recover, confirmRecovery]
