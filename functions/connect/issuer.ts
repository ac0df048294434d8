import * as z from 'zod'
import { AuthorizeQuery, authorizeStandard, pushRequest } from '#shared/access/consents/index.ts'
import {
  authorizeHost,
  exchangeForHost,
  HostTokensSchema,
  pushHostRequest,
  RegisteredHostSchema,
  RegisterHost,
  registerHost,
  revokeForHost,
} from '#shared/access/hosts/index.ts'
import {
  AuthorizationServerMetadataSchema,
  canRepeatTokenResponse,
  connectMetadata,
  handleTokenRequest,
  IntrospectionSchema,
  introspectToken,
  openIdMetadata,
  PresentToken,
  revokeToken,
  TokenRequest,
  TokenResponseSchema,
  tokenOf,
} from '#shared/access/oauth/index.ts'
import { limitDocuments } from '#shared/http/anonymous.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { returnPage } from '#shared/http/error-page.ts'
import { readParameters } from '#shared/http/parse.ts'
import { publicDocument, redirect } from '#shared/http/response.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isHostClientId } from '#shared/kernel/host-resources.ts'

const about = { group: 'connect', lenient: true } as const

const begin = defineEndpoint({
  ...about,
  id: 'connect.authorize.begin',
  method: 'GET',
  path: '/connect/authorize',
  caller: 'none',
  anonymous: 'authorize',
  showsErrors: true,
  standard: true,
  summary: 'Ask a customer for consent, strictly by the RFCs',
  description:
    'As `GET /oauth/authorize`, but errors other than a wrong `client_id` or `redirect_uri` go back to `redirect_uri` with ' +
    '`error`, `state` and `iss` (RFC 6749 §4.1.2.1), for a host with an `https` address by a page. Takes `request_uri` of a pushed request. A host’s `client_id` is the ' +
    'address of its metadata document, or that of its registration.',
  query: () =>
    AuthorizeQuery()
      .extend({
        request_uri: z.string().meta({ description: 'Of `POST /connect/par`. Replaces all other parameters.' }),
        resource: z.string().meta({ description: 'Address of `/api/v1`, for hosts that of an MCP server (RFC 8707).' }),
      })
      .partial()
      .required({ client_id: true }),
  status: 302,
  errors: ['invalid_request', 'invalid_client', 'app_suspended', 'app_not_approved', 'invalid_redirect_uri'],
  needs: ['table:read', 'table:write', 'outgoing'],
  handler: async ({ work, request }) => {
    const { parameters, repeated } = readParameters(request.rawQuery)
    const shown = ['client_id', 'redirect_uri', 'request_uri'].map((name) => repeated.get(name)).find(Boolean)
    if (shown) throw shown
    if (repeated.has('state')) delete parameters.state
    const asked = { parameters, fault: [...repeated.values()][0] }
    if (!isHostClientId(parameters.client_id)) return redirect(await authorizeStandard(work, asked))
    const { to, refused } = await authorizeHost(work, asked, () => limitDocuments(work, request.sourceIp))
    return refused ? returnPage(to, refused, work.requestId, request.headers) : redirect(to)
  },
})

const register = defineEndpoint({
  ...about,
  id: 'connect.host.register',
  method: 'POST',
  path: '/connect/register',
  caller: 'none',
  anonymous: 'registerHost',
  standard: 'registration',
  summary: 'Register a host (RFC 7591)',
  description:
    'For MCP clients without a client id metadata document. Every client is public and gets no secret. A registration that ' +
    'nobody uses for 90 days is removed.',
  body: RegisterHost,
  response: RegisteredHostSchema,
  status: 201,
  errors: ['invalid_redirect_uri', 'forbidden'],
  secret: true,
  needs: ['table:write'],
  handler: ({ work, body }) => registerHost(work, body),
})

const clientOnly = {
  ...about,
  method: 'POST',
  caller: 'client',
  consumes: 'form',
  standard: true,
} as const

/** Caller of endpoints that hosts may use as well. */
const client = { ...clientOnly, hosts: true } as const

const StandardTokenRequest = () =>
  TokenRequest()
    .extend({ client_assertion: z.string().optional(), client_assertion_type: z.string().optional() })
    .meta({ id: 'StandardTokenRequest' })

const token = defineEndpoint({
  ...client,
  id: 'connect.token.exchange',
  path: '/connect/token',
  summary: 'Exchange a code or refresh tokens, strictly by the RFCs',
  description:
    'As `POST /oauth/token`, with errors by RFC 6749 §5.2. The client authenticates by HTTP Basic or in the body. A code is ' +
    'redeemed only by the issuer that gave it. An app with `jwks` may sign a `client_assertion` instead (RFC 7523); a host sends ' +
    'its `client_id` alone, or signs one.',
  body: StandardTokenRequest,
  response: () => z.union([TokenResponseSchema(), HostTokensSchema()]),
  errors: [
    'invalid_request',
    'invalid_target',
    'unsupported_grant_type',
    'invalid_grant',
    'app_suspended',
    'installation_suspended',
  ],
  secret: true,
  needs: ['keys:access', 'keys:data'],
  replays: async (work, caller, body) => caller.kind === 'host' || canRepeatTokenResponse(work, caller.app, body),
  handler: ({ work, caller, body }) =>
    caller.kind === 'host'
      ? exchangeForHost(work, caller.client, body)
      : handleTokenRequest(work, caller.app, body, 'connect'),
})

const revocation = defineEndpoint({
  ...client,
  id: 'connect.token.revoke',
  path: '/connect/revoke',
  summary: 'Revoke a token (RFC 7009)',
  description: 'As `POST /oauth/revoke`: revoking any token of a grant ends the whole grant.',
  body: PresentToken,
  response: () => z.object({}).meta({ id: 'TokenRevocation', description: 'Always empty.' }),
  errors: ['invalid_request'],
  needs: ['keys:public'],
  handler: ({ work, caller, body }) =>
    caller.kind === 'host'
      ? revokeForHost(work, caller.client, tokenOf(body))
      : revokeToken(work, caller.app, tokenOf(body)),
})

const introspection = defineEndpoint({
  ...clientOnly,
  id: 'connect.token.introspect',
  path: '/connect/introspect',
  summary: 'Check whether a token is active (RFC 7662)',
  description: 'As `POST /oauth/introspect`, for tokens of this issuer. Those of the other are `active: false`.',
  body: PresentToken,
  response: IntrospectionSchema,
  errors: ['invalid_request'],
  secret: true,
  needs: ['keys:public'],
  replays: async (work, caller, { token: presented }, _params, kept) =>
    presented !== undefined &&
    JSON.stringify(await introspectToken(work, caller.app, presented, 'connect')) === kept.body,
  handler: ({ work, caller, body }) => introspectToken(work, caller.app, tokenOf(body), 'connect'),
})

const PushedRequest = () =>
  AuthorizeQuery()
    .extend({ client_secret: z.string(), request_uri: z.string(), resource: z.string(), response_mode: z.string() })
    .extend({ response_type: z.string(), code_challenge_method: z.string(), state: z.string() })
    .partial()
    .meta({ id: 'PushedAuthorizationRequest' })

const push = defineEndpoint({
  ...client,
  id: 'connect.request.push',
  path: '/connect/par',
  summary: 'Push an authorization request (RFC 9126)',
  description:
    'Takes the parameters of `GET /connect/authorize`, with `client_id`. The `request_uri` works once, within 90 seconds.',
  body: PushedRequest,
  response: () =>
    z
      .object({ request_uri: z.string(), expires_in: z.number().int() })
      .meta({ id: 'PushedAuthorizationResponse', description: 'RFC 9126' }),
  status: 201,
  errors: [
    'invalid_request',
    'invalid_target',
    'invalid_redirect_uri',
    'unsupported_response_type',
    'invalid_scope',
    'insufficient_scope',
    'app_suspended',
  ],
  secret: true,
  handler: async ({ work, caller, body }) => {
    if (!body.client_id) throw fail('invalid_request', { message: 'client_id is missing.', fix: 'Send client_id.' })
    return caller.kind === 'host' ? pushHostRequest(work, caller.client, body) : pushRequest(work, caller.app, body)
  },
})

/** Metadata where clients look that append to the issuer: RFC 8414 in its older reading, and OpenID Connect Discovery. */
const metadata = (['oauth-authorization-server', 'openid-configuration'] as const).map((name) =>
  defineEndpoint({
    ...about,
    id: `connect.metadata.${name === 'openid-configuration' ? 'openid' : 'read'}`,
    method: 'GET',
    path: `/connect/.well-known/${name}`,
    caller: 'none',
    summary: `Get the second issuer’s metadata (${name})`,
    response: AuthorizationServerMetadataSchema,
    handler: async ({ work }) =>
      publicDocument((name === 'openid-configuration' ? openIdMetadata : connectMetadata)(work.settings)),
  }),
)

export const endpoints = [begin, register, token, revocation, introspection, push, ...metadata]
