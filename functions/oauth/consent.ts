import { decideConsent, decidedBy } from '#shared/domain/consents/decide.ts'
import { readConsentRequest } from '#shared/domain/consents/request.ts'
import {
  ConsentDecidedSchema,
  ConsentQuery,
  ConsentRequestSchema,
  ConsentStatusSchema,
  DecideConsent,
} from '#shared/domain/consents/schemas.ts'
import { readConsentStatus } from '#shared/domain/consents/status.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const request = defineEndpoint({
  id: 'oauth.consent.read',
  group: 'oauth',
  method: 'GET',
  path: '/oauth/consent/request',
  caller: 'console',
  summary: 'What a consent link asks for',
  description: 'The first signed-in person to open a link owns it; for everybody else it is `not_found`.',
  query: ConsentQuery,
  response: ConsentRequestSchema,
  errors: ['not_found', 'expired_consent_link', 'app_suspended'],
  handler: ({ work, caller, query }) => readConsentRequest(work, query.tg, caller.user.id),
})

const status = defineEndpoint({
  id: 'oauth.consent.status',
  group: 'oauth',
  method: 'GET',
  path: '/oauth/consent/status',
  caller: 'none',
  summary: 'Does a consent link still wait?',
  description: 'For a page that handed over to the messaging app. It is not told how the link ended.',
  query: ConsentQuery,
  response: ConsentStatusSchema,
  secret: true,
  handler: ({ work, query }) => readConsentStatus(work, query.tg),
})

const decision = defineEndpoint({
  id: 'oauth.consent.decide',
  group: 'oauth',
  method: 'POST',
  // About any workspace of the person, not only the one that the session is in.
  whileSuspended: true,
  path: '/oauth/consent/decision',
  caller: 'console',
  summary: 'Approve or deny',
  description:
    'Approving installs the app in the workspace, or updates its installation, and sends the browser back with a code. ' +
    'A person may grant fewer scopes than were asked for. A link is decided once.',
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
  replays: (work, caller, body) => decidedBy(work, (body as { tg?: unknown } | null)?.tg, caller.session.id),
  handler: ({ work, caller, body }) => decideConsent(work, caller, body),
})

export const consentEndpoints = [request, status, decision]
