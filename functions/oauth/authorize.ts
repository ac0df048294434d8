import * as z from 'zod'
import { authorize } from '#shared/access/consents/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { uniqueParameters } from '#shared/http/parse.ts'
import { redirect } from '#shared/http/response.ts'

/**
 * Describes the parameters for the reference. The handler validates them in the order that the contract defines
 * (contract/oauth-and-tokens.md#authorization-request).
 */
const AuthorizeQuery = () =>
  z.object({
    client_id: z.string().meta({ description: 'The app’s ID.' }),
    redirect_uri: z.string().meta({ description: 'One of the app’s registered addresses, character for character.' }),
    response_type: z.literal('code'),
    code_challenge: z.string().meta({ description: 'BASE64URL(SHA256(code_verifier)).' }),
    code_challenge_method: z.literal('S256'),
    response_mode: z.literal('query').optional().meta({ description: 'How the response is returned. Always `query`.' }),
    scope: z
      .string()
      .optional()
      .meta({ description: 'Scopes separated by spaces. Default: all scopes that the app requests.' }),
    state: z
      .string()
      .max(4_096)
      .optional()
      .meta({ description: 'Returned unchanged. Compare it to detect forged responses.' }),
  })

const begin = defineEndpoint({
  id: 'oauth.authorize.begin',
  group: 'oauth',
  method: 'GET',
  path: '/oauth/authorize',
  caller: 'none',
  anonymous: 'authorize',
  lenient: true,
  showsErrors: true,
  summary: 'Ask a customer for consent',
  description:
    'Redirects to the consent page. From there the browser returns to `redirect_uri` with `code`, `state` and `iss`, ' +
    'or with `error=access_denied`. Errors in the request itself are never redirected: they are JSON, or a page for a browser (`Accept: text/html`). A ' +
    'parameter without a value counts as missing, a parameter sent twice gets `invalid_request`, and unknown ' +
    'parameters are ignored.',
  query: AuthorizeQuery,
  status: 302,
  errors: [
    'invalid_request',
    'invalid_client',
    'app_suspended',
    'app_not_approved',
    'invalid_redirect_uri',
    'unsupported_response_type',
    'invalid_scope',
    'insufficient_scope',
  ],
  needs: ['table:read', 'table:write'],
  handler: async ({ work, request }) => redirect(await authorize(work, uniqueParameters(request.rawQuery))),
})

export const endpoints = [begin]
