import * as z from 'zod'
import { IntrospectionSchema, introspectToken, PresentToken, revokeToken, tokenOf } from '#shared/access/oauth/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const common = {
  group: 'oauth',
  method: 'POST',
  caller: 'client',
  consumes: 'form',
  lenient: true,
  body: PresentToken,
  errors: ['invalid_request'],
  needs: ['keys:public'],
} as const

const revocation = defineEndpoint({
  ...common,
  id: 'oauth.token.revoke',
  path: '/oauth/revoke',
  summary: 'Revoke a token (RFC 7009)',
  description:
    'Revoking either token of a pair, including a rotated refresh token, ends the whole grant: all of its refresh ' +
    'and access tokens stop working at their next request. An access token can’t be revoked alone, because it has no ' +
    'record of its own. Other grants of the installation aren’t affected. Unknown, expired and revoked tokens, and ' +
    'those of other clients, get the same response and change nothing. Callback and surface tokens can’t be revoked; ' +
    'they expire within minutes.',
  response: () => z.object({}).meta({ id: 'TokenRevocation', description: 'Always empty.' }),
  handler: ({ work, caller, body }) => revokeToken(work, caller.app, tokenOf(body)),
})

const introspection = defineEndpoint({
  ...common,
  id: 'oauth.token.introspect',
  path: '/oauth/introspect',
  summary: 'Check whether a token is active (RFC 7662)',
  description:
    'Works for the client’s own access and refresh tokens. Everything else is `{"active": false}`, whatever the ' +
    'reason: expired, rotated or revoked tokens, access tokens issued before a client secret rotation, tokens of a ' +
    'suspended app, installation or workspace, tokens of another client, and other kinds of tokens (callback, ' +
    'surface, console, admin).',
  response: IntrospectionSchema,
  secret: true,
  // A stored response is replayed only while it still describes the token's current state.
  replays: async (work, caller, { token }, _params, kept) =>
    token !== undefined && JSON.stringify(await introspectToken(work, caller.app, token)) === kept.body,
  handler: ({ work, caller, body }) => introspectToken(work, caller.app, tokenOf(body)),
})

export const endpoints = [revocation, introspection]
