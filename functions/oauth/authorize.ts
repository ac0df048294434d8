import { AuthorizeQuery, authorize } from '#shared/access/consents/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { uniqueParameters } from '#shared/http/parse.ts'
import { redirect } from '#shared/http/response.ts'

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
