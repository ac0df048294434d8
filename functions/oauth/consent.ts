import {
  ConsentDecidedSchema,
  ConsentQuery,
  ConsentRequestSchema,
  ConsentStatusSchema,
  DecideConsent,
  decideConsent,
  readConsentRequest,
  readConsentStatus,
  wasDecidedBy,
} from '#shared/access/consents/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const request = defineEndpoint({
  id: 'oauth.consent.read',
  group: 'oauth',
  method: 'GET',
  path: '/oauth/consent/request',
  caller: 'console',
  summary: 'Get what a consent link asks for',
  description:
    'The first signed-in person who opens a link and could approve it in the workspace of their session owns it. For ' +
    'everyone else it is `not_found`. A member who can’t approve it leaves it open for somebody who can.',
  query: ConsentQuery,
  response: ConsentRequestSchema,
  errors: ['not_found', 'expired_consent_link', 'app_suspended'],
  handler: ({ work, caller, query }) => readConsentRequest(work, query.tg, caller),
})

const status = defineEndpoint({
  id: 'oauth.consent.status',
  group: 'oauth',
  method: 'GET',
  path: '/oauth/consent/status',
  caller: 'none',
  anonymous: 'read',
  summary: 'Check whether a consent link is still waiting',
  description: 'For a page that opened the messenger. The response doesn’t say whether the request was approved.',
  query: ConsentQuery,
  response: ConsentStatusSchema,
  secret: true,
  handler: ({ work, query }) => readConsentStatus(work, query.tg),
})

const decision = defineEndpoint({
  id: 'oauth.consent.decide',
  group: 'oauth',
  method: 'POST',
  // The decision can be about any of the person's workspaces, not only the one that the session is in.
  whileSuspended: true,
  path: '/oauth/consent/decision',
  caller: 'console',
  summary: 'Approve or deny a consent request',
  description:
    'Approving installs the app in the workspace or updates its installation, and sends the browser back with a ' +
    'code. A person can grant fewer scopes than the app requested. A link can be decided only once.',
  body: DecideConsent,
  response: ConsentDecidedSchema,
  errors: [
    'forbidden',
    'not_found',
    'expired_consent_link',
    'app_suspended',
    'app_not_approved',
    'admin_required',
    'installation_suspended',
    'insufficient_scope',
    'invalid_redirect_uri',
    'scope_denied_by_admin',
    'no_manifest',
  ],
  secret: true,
  replays: (work, caller, body) => wasDecidedBy(work, (body as { tg?: unknown } | null)?.tg, caller.session.id),
  handler: ({ work, caller, body }) => decideConsent(work, caller, body),
})

export const endpoints = [request, status, decision]
