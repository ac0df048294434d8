import { decideConsent, decidedBy } from '#shared/domain/consents/decide.ts'
import { readConsentRequest } from '#shared/domain/consents/request.ts'
import {
  ConsentDecidedSchema,
  ConsentQuery,
  ConsentRequestSchema,
  DecideConsent,
} from '#shared/domain/consents/schemas.ts'
import { RawAnswer } from '#shared/http/answer.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { consentPage } from '#web/consent/page.ts'

const page = defineEndpoint({
  id: 'oauth.consent.page',
  group: 'oauth',
  method: 'GET',
  path: '/oauth/consent',
  caller: 'none',
  lenient: true,
  summary: 'The consent page, for people',
  description: 'Open to everybody and without data of its own: what it shows it asks for with the person’s session.',
  produces: 'text/html',
  handler: async ({ work }) => {
    const { html, securityPolicy } = consentPage({ localSignIn: work.settings.consoleAutoProvision })
    return new RawAnswer(
      200,
      {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': securityPolicy,
        'x-frame-options': 'DENY',
        // The address holds the request's nonce.
        'referrer-policy': 'no-referrer',
      },
      html,
    )
  },
})

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

const decision = defineEndpoint({
  id: 'oauth.consent.decide',
  group: 'oauth',
  method: 'POST',
  path: '/oauth/consent/decision',
  caller: 'console',
  summary: 'Approve or deny',
  description:
    'Approving installs the app in the workspace, or updates its installation, and sends the browser back with a code. ' +
    'A person may grant fewer scopes than were asked for. A link is decided once.',
  body: DecideConsent,
  response: ConsentDecidedSchema,
  errors: [
    'not_found',
    'expired_consent_link',
    'app_suspended',
    'app_not_approved',
    'admin_required',
    'installation_suspended',
    'insufficient_scope',
    'scope_denied_by_admin',
    'no_manifest',
  ],
  secret: true,
  replays: (work, caller, body) => decidedBy(work, (body as { tg?: unknown }).tg, caller.session.id),
  handler: ({ work, caller, body }) => decideConsent(work, caller, body),
})

export const consentEndpoints = [page, request, decision]
