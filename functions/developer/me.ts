import { WRONG_KEY } from '#shared/http/authorize.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  ClaimVendor,
  checkKeyIsCurrent,
  claimVendor,
  DeveloperKeySchema,
  DeveloperSchema,
  ProfileSchema,
  RegisterDeveloper,
  RegisteredSchema,
  readProfile,
  registerDeveloper,
  rotateKey,
} from '#shared/identity/developer-accounts/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { browserLanguage } from '#shared/kernel/messages.ts'

const register = defineEndpoint({
  id: 'developer.account.register',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/register',
  caller: 'none',
  anonymous: 'register',
  summary: 'Create a developer account',
  description:
    'Returns the developer key and a sandbox workspace for the account. The key and the invite link are shown only ' +
    'once. If the email address is already registered, the response is `conflict`.',
  body: RegisterDeveloper,
  status: 201,
  response: RegisteredSchema,
  errors: ['conflict'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:data', 'mail'],
  handler: ({ work, body, request }) => registerDeveloper(work, body, browserLanguage(request.headers)),
})

const me = defineEndpoint({
  id: 'developer.account.read',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/me',
  caller: 'developer',
  summary: 'Get your developer profile',
  response: ProfileSchema,
  handler: ({ work, caller }) =>
    readProfile(work, caller.developerId, { role: caller.role, memberId: caller.member?.id }),
})

const rotateDeveloperKey = defineEndpoint({
  id: 'developer.account.rotateKey',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/me/rotate-key',
  caller: 'developer',
  // The new key has the rights of the old one.
  role: 'viewer',
  summary: 'Replace the developer key of this request',
  description:
    'The old key gets `unauthorized` immediately. The new key is shown only once. Send a UUID as `Idempotency-Key`: ' +
    'if the response is lost, repeat the request within ten minutes, with the old key and the same ' +
    '`Idempotency-Key`, to get it again. This works while the new key is the current one. If you rotate twice at the ' +
    'same time, one request gets `conflict`.',
  response: DeveloperKeySchema,
  errors: ['conflict'],
  secret: true,
  endsCredential: true,
  replays: (work, { developerId }, _body, _params, kept) => checkKeyIsCurrent(work, developerId, kept),
  handler: async ({ work, caller, request: { headers } }) => {
    if (caller.ended) throw fail('unauthorized', WRONG_KEY)
    return rotateKey(work, caller.developerId, headers['x-developer-key'] ?? '', headers['idempotency-key'])
  },
})

const vendor = defineEndpoint({
  id: 'developer.account.claimVendor',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/me/vendor',
  caller: 'developer',
  summary: 'Claim your vendor name',
  description:
    'The first part of your manifests’ ids, such as `acme` in `acme.stock-helper`. Unique on the platform, and fixed ' +
    'once claimed. Most deployments require it before your first publication.',
  body: ClaimVendor,
  response: DeveloperSchema,
  errors: ['conflict'],
  handler: ({ work, caller, body }) => claimVendor(work, caller.developerId, body.vendor),
})

export const endpoints = [register, me, rotateDeveloperKey, vendor]
