import { AddPasskey, PasskeyOptionsSchema, PasskeySchema, PresentPasskey } from '#shared/foundation/passkeys/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { countFailedSignIns } from '#shared/http/failed-authentications.ts'
import { wholeList } from '#shared/http/paging.ts'
import {
  addMemberPasskey,
  beginMemberPasskey,
  beginMemberSignIn,
  DeveloperSessionSchema,
  listMemberPasskeys,
  removeMemberPasskey,
  signInByMemberPasskey,
} from '#shared/identity/developer-accounts/index.ts'

// Everyone may change their own passkeys.
const own = { group: 'developer', caller: 'developer', role: 'viewer' } as const
const signIn = { group: 'developer', caller: 'none', anonymous: 'signIn', method: 'POST' } as const

/** A credential’s attestation may hold a chain of certificates. */
const maxBodyBytes = 65_536

const list = defineEndpoint({
  ...own,
  id: 'developer.passkeys.list',
  method: 'GET',
  path: '/api/v1/dev/me/passkeys',
  summary: 'List your passkeys, oldest first',
  description: 'Of the teammate who signed in. Developer keys have none.',
  list: 'page',
  response: PasskeySchema,
  handler: async ({ work, caller }) => wholeList(await listMemberPasskeys(work, caller)),
})

const begin = defineEndpoint({
  ...own,
  id: 'developer.passkeys.begin',
  method: 'POST',
  path: '/api/v1/dev/me/passkeys/options',
  summary: 'Start adding a passkey',
  description:
    'Pass `options` to `navigator.credentials.create`, then send the credential to `POST /api/v1/dev/me/passkeys` ' +
    'within 5 minutes. Requires a sign-in by e-mail or passkey within the last 5 minutes (`confirmation_required`).',
  response: PasskeyOptionsSchema,
  errors: ['forbidden', 'confirmation_required', 'conflict'],
  handler: ({ work, caller }) => beginMemberPasskey(work, caller),
})

const add = defineEndpoint({
  ...own,
  id: 'developer.passkeys.add',
  method: 'POST',
  path: '/api/v1/dev/me/passkeys',
  summary: 'Add a passkey',
  description: 'The passkey signs you in to the portal. You can have up to 10 (`conflict`).',
  body: AddPasskey,
  maxBodyBytes,
  status: 201,
  response: PasskeySchema,
  errors: ['forbidden', 'confirmation_required', 'conflict'],
  handler: ({ work, caller, body }) => addMemberPasskey(work, caller, body),
})

const remove = defineEndpoint({
  ...own,
  id: 'developer.passkeys.remove',
  method: 'DELETE',
  path: '/api/v1/dev/me/passkeys/{id}',
  params: { id: 'passkey' },
  summary: 'Remove a passkey',
  description: 'Sessions that it opened continue. Requires a sign-in within the last 10 minutes.',
  status: 204,
  errors: ['forbidden', 'confirmation_required', 'conflict'],
  handler: async ({ work, caller, params }) => {
    await removeMemberPasskey(work, caller, params.id)
    return undefined
  },
})

const beginSignIn = defineEndpoint({
  ...signIn,
  id: 'developer.passkeys.beginSignIn',
  path: '/api/v1/dev/passkeys/sign-in/options',
  summary: 'Start signing in with a passkey',
  description:
    'Pass `options` to `navigator.credentials.get`, then send the answer to `POST /api/v1/dev/passkeys/sign-in` ' +
    'within 5 minutes.',
  response: PasskeyOptionsSchema,
  errors: ['rate_limited'],
  needs: ['table:read', 'table:write'],
  handler: ({ work }) => beginMemberSignIn(work),
})

const finishSignIn = defineEndpoint({
  ...signIn,
  id: 'developer.passkeys.signIn',
  path: '/api/v1/dev/passkeys/sign-in',
  summary: 'Sign in to the developer portal with a passkey',
  body: PresentPasskey,
  maxBodyBytes,
  status: 201,
  response: DeveloperSessionSchema,
  errors: ['unauthorized', 'not_a_developer', 'conflict', 'rate_limited'],
  secret: true,
  needs: ['table:read', 'table:write'],
  handler: ({ work, body }) => countFailedSignIns(work, () => signInByMemberPasskey(work, body)),
})

export const endpoints = [list, begin, add, remove, beginSignIn, finishSignIn]
