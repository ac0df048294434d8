import * as z from 'zod'
import { IntrospectionSchema, introspect } from '#shared/domain/oauth/introspect.ts'
import { revoke } from '#shared/domain/oauth/revoke.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { fail } from '#shared/kernel/errors.ts'

/** `token` is optional here only so that its absence is the RFCs' `invalid_request`. Unknown parameters are ignored. */
const PresentedToken = () =>
  z
    .object({
      token: z.string().optional().meta({ description: 'Required. An access or refresh token of this client.' }),
      token_type_hint: z.string().optional().meta({ description: 'Not needed; whatever it says is ignored.' }),
      client_id: z.string().optional().meta({ description: 'Required. The app’s id.' }),
      client_secret: z.string().optional().meta({ description: 'Required. The app’s current secret.' }),
    })
    .meta({ id: 'PresentedToken' })

const tokenOf = ({ token }: { token?: string | undefined }): string => {
  if (!token) throw fail('invalid_request', { message: 'token is missing.', fix: 'Send token.' })
  return token
}

const common = {
  group: 'oauth',
  method: 'POST',
  caller: 'client',
  consumes: 'form',
  lenient: true,
  body: PresentedToken,
  errors: ['invalid_request'],
  needs: ['keys:tokens'],
} as const

const revocation = defineEndpoint({
  ...common,
  id: 'oauth.token.revoke',
  path: '/oauth/revoke',
  summary: 'Give back what a customer granted (RFC 7009)',
  description:
    'Either token of a pair, also a refresh token that was rotated, ends the grant: an access token has no record of its ' +
    'own that could end alone, so all refresh and access tokens of the chain stop working at the next request. Other ' +
    'grants of the installation live on. A token that is unknown, expired, revoked or another client’s changes nothing and is answered ' +
    'alike. Callback and surface tokens cannot be revoked; they end by themselves within minutes.',
  response: () => z.object({}).meta({ id: 'TokenRevocation', description: 'Always empty.' }),
  handler: ({ work, caller, body }) => revoke(work, caller.app, tokenOf(body)),
})

const introspection = defineEndpoint({
  ...common,
  id: 'oauth.token.introspect',
  path: '/oauth/introspect',
  summary: 'Does a token work now? (RFC 7662)',
  description:
    'For a client’s own access and refresh tokens. Everything else is `{"active": false}`, whatever the reason: expired, ' +
    'rotated, revoked, an access token from before the client secret was rotated, of a suspended app, installation or ' +
    'workspace, another client’s, or another kind of token (callback, surface, console, admin).',
  response: IntrospectionSchema,
  secret: true,
  // A kept answer must not say of a token what is no longer so.
  replays: async (work, caller, { token }, _params, kept) =>
    token !== undefined && JSON.stringify(await introspect(work, caller.app, token)) === kept.body,
  handler: ({ work, caller, body }) => introspect(work, caller.app, tokenOf(body)),
})

export const presentedTokenEndpoints = [revocation, introspection]
