import type { Work } from '#shared/domain/deps.ts'
import { answerStillHolds } from '#shared/domain/oauth/kept-answer.ts'
import { TokenResponseSchema } from '#shared/domain/oauth/token-pair.ts'
import { answerTokenRequest, TokenRequest } from '#shared/domain/oauth/token-request.ts'
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
  needs: ['keys:tokens', 'keys:data'],
} as const

const replays = (work: Work, caller: ClientCaller, body: unknown): Promise<boolean> =>
  answerStillHolds(work, caller.app, body)

const description =
  'The client identifies itself by `client_id` and `client_secret` in the body, without an Authorization header. A ' +
  'parameter without a value counts as missing, one sent twice is `invalid_request`, unknown ones are ignored, `scope` ' +
  'and `resource` among them: the answer’s `scope` says what was granted. A refresh token works once: the answer holds ' +
  'the next one. Using an old one again revokes the whole chain. Send an `Idempotency-Key` to get the same answer again ' +
  'should it get lost on the way.'

const form = defineEndpoint({
  ...common,
  id: 'oauth.token.form',
  path: '/oauth/token',
  consumes: 'form',
  summary: 'Exchange a code, or refresh',
  description,
  replays,
  handler: ({ work, caller, body }) => answerTokenRequest(work, caller.app, body),
})

const json = defineEndpoint({
  ...common,
  id: 'oauth.token.json',
  path: '/oauth/token.json',
  summary: 'Exchange a code, or refresh, with a JSON body',
  description,
  replays,
  handler: ({ work, caller, body }) => answerTokenRequest(work, caller.app, body),
})

export const tokenEndpoints = [form, json]
