import * as z from 'zod'
import { authorize } from '#shared/domain/oauth/authorize.ts'
import { redirect } from '#shared/http/answer.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { unique } from '#shared/http/parse.ts'

/** Describes the parameters; what a client sends is checked in the order that the specification gives. */
const AuthorizeQuery = () =>
  z.object({
    client_id: z.string().meta({ description: 'The app’s id.' }),
    redirect_uri: z.string().meta({ description: 'A registered address, character for character.' }),
    response_type: z.literal('code'),
    code_challenge: z.string().meta({ description: 'BASE64URL(SHA256(code_verifier)).' }),
    code_challenge_method: z.literal('S256'),
    response_mode: z.literal('query').optional().meta({ description: 'How the answer comes back, always.' }),
    scope: z.string().optional().meta({ description: 'Separated by spaces. Default: all that the app requests.' }),
    state: z
      .string()
      .max(4_096)
      .optional()
      .meta({ description: 'Comes back as it is; check it against forged answers.' }),
  })

const begin = defineEndpoint({
  id: 'oauth.authorize.begin',
  group: 'oauth',
  method: 'GET',
  path: '/oauth/authorize',
  caller: 'none',
  lenient: true,
  summary: 'Ask a customer for consent',
  description:
    'Goes on to the consent page. From there the browser comes back to `redirect_uri` with `code`, `state` and `iss`, ' +
    'or with `error=access_denied`. An error of the request itself is answered here as JSON and never redirected. A ' +
    'parameter without a value counts as missing, one sent twice is `invalid_request`, unknown ones are ignored.',
  query: AuthorizeQuery,
  status: 302,
  errors: [
    'invalid_request',
    'invalid_client',
    'app_suspended',
    'invalid_redirect_uri',
    'unsupported_response_type',
    'invalid_scope',
    'insufficient_scope',
  ],
  needs: ['table:read', 'table:write'],
  handler: async ({ work, request }) => redirect(await authorize(work, unique(request.rawQuery))),
})

export const authorizeEndpoints = [begin]
