import {
  canRepeatTokenResponse,
  handleTokenRequest,
  TokenRequest,
  TokenResponseSchema,
} from '#shared/access/oauth/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { ClientCaller } from '#shared/http/callers.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const common = {
  group: 'oauth',
  method: 'POST',
  caller: 'client',
  lenient: true,
  body: TokenRequest,
  response: TokenResponseSchema,
  errors: ['invalid_request', 'unsupported_grant_type', 'invalid_grant', 'app_suspended', 'installation_suspended'],
  secret: true,
  needs: ['keys:access', 'keys:data'],
} as const

const replays = (work: Work, caller: ClientCaller, body: unknown): Promise<boolean> =>
  canRepeatTokenResponse(work, caller.app, body)

const description =
  'Send `client_id` and `client_secret` in the body, without an Authorization header. A parameter without a value counts ' +
  'as missing, and a parameter sent twice gets `invalid_request`. Unknown parameters are ignored, including `scope` and ' +
  '`resource`: the response’s `scope` lists what was granted. A refresh token works once, and the response contains the ' +
  'next one. Using an old refresh token again revokes the whole chain. Send an `Idempotency-Key` so that you can get the ' +
  'same response again if it is lost.'

const form = defineEndpoint({
  ...common,
  id: 'oauth.token.form',
  path: '/oauth/token',
  consumes: 'form',
  summary: 'Exchange a code or refresh tokens',
  description,
  replays,
  handler: ({ work, caller, body }) => handleTokenRequest(work, caller.app, body),
})

const json = defineEndpoint({
  ...common,
  id: 'oauth.token.json',
  path: '/oauth/token.json',
  summary: 'Exchange a code or refresh tokens with a JSON body',
  description: 'The same as `POST /oauth/token`, which takes a form.',
  replays,
  handler: ({ work, caller, body }) => handleTokenRequest(work, caller.app, body),
})

export const endpoints = [form, json]
