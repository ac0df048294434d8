import { ConsentDecidedSchema, ConsentQuery, ConsentStatusSchema } from '#shared/access/consents/index.ts'
import {
  DecideHostConsent,
  decideHostConsent,
  HostConsentRequestSchema,
  readHostConsent,
  readHostConsentStatus,
  wasHostConsentDecidedBy,
} from '#shared/access/hosts/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const request = defineEndpoint({
  id: 'connect.consent.read',
  group: 'connect',
  method: 'GET',
  path: '/connect/consent/request',
  caller: 'console',
  summary: 'Get what a host’s consent link asks for',
  description:
    'The first signed-in person who opens a link and could approve it in the workspace of their session owns it. For ' +
    'everyone else it is `not_found`.',
  query: ConsentQuery,
  response: HostConsentRequestSchema,
  errors: ['not_found', 'expired_consent_link'],
  handler: ({ work, caller, query }) => readHostConsent(work, query.tg, caller),
})

const status = defineEndpoint({
  id: 'connect.consent.status',
  group: 'connect',
  method: 'GET',
  path: '/connect/consent/status',
  caller: 'none',
  anonymous: 'read',
  summary: 'Check whether a host’s consent link is still waiting',
  description: 'For a page that opened the messenger. The response doesn’t say whether the request was approved.',
  query: ConsentQuery,
  response: ConsentStatusSchema,
  secret: true,
  handler: ({ work, query }) => readHostConsentStatus(work, query.tg),
})

const decision = defineEndpoint({
  id: 'connect.consent.decide',
  group: 'connect',
  method: 'POST',
  // The decision can be about any of the person's workspaces, not only the one that the session is in.
  whileSuspended: true,
  path: '/connect/consent/decision',
  caller: 'console',
  summary: 'Approve or deny a host’s consent request',
  description:
    'Approving lets the host act for this person in one workspace, with the scopes that they chose. A link can be decided ' +
    'only once.',
  body: DecideHostConsent,
  response: ConsentDecidedSchema,
  errors: ['forbidden', 'not_found', 'expired_consent_link', 'installation_suspended', 'insufficient_scope'],
  secret: true,
  replays: (work, caller, body) =>
    wasHostConsentDecidedBy(work, (body as { tg?: unknown } | null)?.tg, caller.session.id),
  handler: ({ work, caller, body }) => decideHostConsent(work, caller, body),
})

export const endpoints = [request, status, decision]
