import {
  AddPasskey,
  listPasskeys,
  PasskeyOptionsSchema,
  PasskeySchema,
  PresentPasskey,
  presentPasskey,
} from '#shared/foundation/passkeys/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { countFailedSignIns } from '#shared/http/failed-authentications.ts'
import { wholeList } from '#shared/http/paging.ts'
import {
  addPersonPasskey,
  beginPasskeySignIn,
  beginPersonPasskey,
  ConsoleSessionSchema,
  isSessionLive,
  removePersonPasskey,
  signInByPasskey,
} from '#shared/identity/people/index.ts'

const own = { group: 'console', caller: 'console', whileSuspended: true } as const
const signIn = { group: 'console', caller: 'none', anonymous: 'signIn', method: 'POST' } as const

/** A credential’s attestation may hold a chain of certificates. */
const maxBodyBytes = 65_536

const list = defineEndpoint({
  ...own,
  id: 'console.passkeys.list',
  method: 'GET',
  path: '/console/passkeys',
  summary: 'List your passkeys, oldest first',
  list: 'page',
  response: PasskeySchema,
  handler: async ({ work, caller }) => wholeList((await listPasskeys(work, caller.user.id)).map(presentPasskey)),
})

const begin = defineEndpoint({
  ...own,
  id: 'console.passkeys.begin',
  method: 'POST',
  path: '/console/passkeys/options',
  summary: 'Start adding a passkey',
  description:
    'Pass `options` to `navigator.credentials.create`, then send the credential to `POST /console/passkeys` within 5 ' +
    'minutes. Requires a sign-in within the last 5 minutes (`confirmation_required`).',
  response: PasskeyOptionsSchema,
  errors: ['confirmation_required', 'forbidden', 'conflict'],
  handler: ({ work, caller }) => beginPersonPasskey(work, caller),
})

const add = defineEndpoint({
  ...own,
  id: 'console.passkeys.add',
  method: 'POST',
  path: '/console/passkeys',
  summary: 'Add a passkey',
  description:
    'The passkey signs in to the same account as the messaging app, in all workspaces. You can have up to 10 ' +
    '(`conflict`). You get a notification.',
  body: AddPasskey,
  maxBodyBytes,
  status: 201,
  response: PasskeySchema,
  errors: ['confirmation_required', 'forbidden', 'conflict'],
  handler: ({ work, caller, body }) => addPersonPasskey(work, caller, body),
})

const remove = defineEndpoint({
  ...own,
  id: 'console.passkeys.remove',
  method: 'DELETE',
  path: '/console/passkeys/{id}',
  params: { id: 'passkey' },
  summary: 'Remove a passkey',
  description: 'Sessions that it opened continue. Requires a sign-in within the last 10 minutes.',
  status: 204,
  errors: ['confirmation_required'],
  handler: async ({ work, caller, params }) => {
    await removePersonPasskey(work, caller, params.id)
    return undefined
  },
})

const beginSignIn = defineEndpoint({
  ...signIn,
  id: 'console.passkeys.beginSignIn',
  path: '/console/passkeys/sign-in/options',
  summary: 'Start signing in with a passkey',
  description:
    'Pass `options` to `navigator.credentials.get`, then send the answer to `POST /console/passkeys/sign-in` within 5 ' +
    'minutes.',
  response: PasskeyOptionsSchema,
  errors: ['rate_limited'],
  needs: ['table:read', 'table:write'],
  handler: ({ work }) => beginPasskeySignIn(work),
})

const finishSignIn = defineEndpoint({
  ...signIn,
  id: 'console.passkeys.signIn',
  path: '/console/passkeys/sign-in',
  summary: 'Sign in with a passkey',
  description: 'Signs in to the account that added the passkey, also if its messenger account is lost.',
  body: PresentPasskey,
  maxBodyBytes,
  response: ConsoleSessionSchema,
  errors: ['unauthorized', 'forbidden', 'rate_limited'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:console', 'keys:public'],
  replays: (work, _caller, _body, _params, kept) => isSessionLive(work, kept),
  handler: ({ work, body }) => countFailedSignIns(work, () => signInByPasskey(work, body)),
})

export const endpoints = [list, begin, add, remove, beginSignIn, finishSignIn]
