import { readProfile } from '#shared/domain/developers/read.ts'
import { registerDeveloper } from '#shared/domain/developers/register.ts'
import { rotateKey, stillCurrent } from '#shared/domain/developers/rotate-key.ts'
import {
  DeveloperKeySchema,
  ProfileSchema,
  RegisterDeveloper,
  RegisteredSchema,
} from '#shared/domain/developers/schemas.ts'
import { WRONG_KEY } from '#shared/http/authorize.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { fail } from '#shared/kernel/errors.ts'

const register = defineEndpoint({
  id: 'developer.account.register',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/register',
  caller: 'none',
  summary: 'Create a developer account',
  description:
    'Answers with the developer key and with a sandbox workspace of the account’s own. Both the key and the invite ' +
    'link are shown this once. An e-mail address that is taken is `conflict`.',
  body: RegisterDeveloper,
  status: 201,
  response: RegisteredSchema,
  errors: ['conflict'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:data'],
  handler: ({ work, body }) => registerDeveloper(work, body),
})

const me = defineEndpoint({
  id: 'developer.account.read',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/me',
  caller: 'developer',
  summary: 'Read the developer’s profile',
  response: ProfileSchema,
  handler: ({ work, caller }) => readProfile(work, caller.developerId),
})

const rotateDeveloperKey = defineEndpoint({
  id: 'developer.account.rotateKey',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/me/rotate-key',
  caller: 'developer',
  summary: 'Replace the developer key',
  description:
    'The old key is `unauthorized` at once. The new one is shown this once: send a UUID as `Idempotency-Key`, and for ten ' +
    'minutes the same request, with the old key and the same `Idempotency-Key`, gets the same answer again, while that ' +
    'key is the current one. Of two rotations at the same moment one is `conflict`.',
  response: DeveloperKeySchema,
  errors: ['conflict'],
  secret: true,
  endsCredential: true,
  replays: (work, { developerId }, _body, _params, kept) => stillCurrent(work, developerId, kept),
  handler: async ({ work, caller, request: { headers } }) => {
    if (caller.ended) throw fail('unauthorized', WRONG_KEY)
    return rotateKey(work, caller.developerId, headers['x-developer-key'] ?? '', headers['idempotency-key'])
  },
})

export const accountEndpoints = [register, me, rotateDeveloperKey]
