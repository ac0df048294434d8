import {
  AddPasskey,
  listPasskeys,
  PasskeyOptionsSchema,
  PasskeySchema,
  PresentPasskey,
  presentPasskey,
} from '#shared/foundation/passkeys/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery, readOffsetPage } from '#shared/http/offset-paging.ts'
import {
  addAdminPasskey,
  beginAdminPasskey,
  beginConfirming,
  ConfirmedSchema,
  ConfirmPassword,
  confirmWithPasskey,
  confirmWithPassword,
  removeAdminPasskey,
  requireSession,
  resetAdminPasskeys,
} from '#shared/staff/admins/index.ts'

const common = { group: 'admin', caller: 'admin', role: 'moderator' } as const

/** A credential’s attestation may hold a chain of certificates. */
const maxBodyBytes = 65_536

const list = defineEndpoint({
  ...common,
  id: 'admin.passkeys.list',
  method: 'GET',
  path: '/admin/me/passkeys',
  summary: 'List your passkeys, oldest first',
  query: () => offsetQuery({}),
  list: 'offset',
  response: PasskeySchema,
  handler: async ({ work, caller, query }) => {
    const all = await listPasskeys(work, caller.admin.id)
    return readOffsetPage(
      query,
      async () => all.length,
      async ({ limit, offset }) => all.slice(offset, offset + limit),
      presentPasskey,
    )
  },
})

const begin = defineEndpoint({
  ...common,
  id: 'admin.passkeys.begin',
  method: 'POST',
  path: '/admin/me/passkeys/options',
  whileSigningIn: true,
  confirms: 'always',
  summary: 'Start adding a passkey',
  description:
    'Pass `options` to `navigator.credentials.create`, then send the credential to `POST /admin/me/passkeys` within 5 ' +
    'minutes. Requires a session that was confirmed in the last 5 minutes.',
  response: PasskeyOptionsSchema,
  errors: ['forbidden', 'conflict'],
  handler: ({ work, caller }) => beginAdminPasskey(work, requireSession(caller)),
})

const add = defineEndpoint({
  ...common,
  id: 'admin.passkeys.add',
  method: 'POST',
  path: '/admin/me/passkeys',
  whileSigningIn: true,
  confirms: 'always',
  summary: 'Add a passkey',
  description:
    'From then on, signing in takes the password and a passkey. Other sessions of the account have to confirm with it ' +
    'before they can be used again. An account can have up to 10 passkeys (`conflict`).',
  body: AddPasskey,
  maxBodyBytes,
  status: 201,
  response: PasskeySchema,
  errors: ['forbidden', 'conflict'],
  handler: ({ work, caller, body }) => addAdminPasskey(work, requireSession(caller), body),
})

const remove = defineEndpoint({
  ...common,
  id: 'admin.passkeys.remove',
  method: 'DELETE',
  path: '/admin/me/passkeys/{id}',
  params: { id: 'passkey' },
  confirms: 'always',
  summary: 'Remove a passkey',
  description: 'You can’t remove the last passkey of an account that must have one (`conflict`).',
  status: 204,
  errors: ['forbidden', 'conflict'],
  handler: async ({ work, caller, params }) => {
    await removeAdminPasskey(work, caller, params.id)
    return undefined
  },
})

const reset = defineEndpoint({
  ...common,
  id: 'admin.passkeys.reset',
  method: 'DELETE',
  path: '/admin/admins/{id}/passkeys',
  params: { id: 'admin' },
  role: 'superadmin',
  confirms: true,
  summary: 'Remove all passkeys of an admin',
  description:
    'For an admin who lost them. Ends their sessions. Their next sign-in takes the password only, and accounts that ' +
    'must have a passkey then add a new one. Give the account a new password too if the old one may be known to others.',
  status: 204,
  errors: ['forbidden', 'conflict'],
  handler: async ({ work, caller, params }) => {
    await resetAdminPasskeys(work, caller, params.id)
    return undefined
  },
})

const beginConfirmation = defineEndpoint({
  ...common,
  id: 'admin.passkeys.beginConfirmation',
  method: 'POST',
  path: '/admin/me/confirm/passkey/options',
  whileSigningIn: true,
  summary: 'Start confirming with a passkey',
  description:
    'Pass `options` to `navigator.credentials.get`, then send the answer to `POST /admin/me/confirm/passkey` within 5 ' +
    'minutes.',
  response: PasskeyOptionsSchema,
  errors: ['forbidden', 'conflict'],
  handler: ({ work, caller }) => beginConfirming(work, requireSession(caller)),
})

const confirm = defineEndpoint({
  ...common,
  id: 'admin.passkeys.confirm',
  method: 'POST',
  path: '/admin/me/confirm/passkey',
  whileSigningIn: true,
  summary: 'Confirm with a passkey',
  description:
    'Completes a sign-in with `next_step: "confirm"`, and confirms sensitive actions for the next 10 minutes. A wrong ' +
    'answer counts as a failed sign-in.',
  body: PresentPasskey,
  maxBodyBytes,
  response: ConfirmedSchema,
  errors: ['forbidden', 'rate_limited', 'conflict'],
  handler: ({ work, caller, body }) => confirmWithPasskey(work, requireSession(caller), body),
})

const confirmByPassword = defineEndpoint({
  ...common,
  id: 'admin.passkeys.confirmWithPassword',
  method: 'POST',
  path: '/admin/me/confirm/password',
  whileSigningIn: true,
  summary: 'Confirm with the password',
  description:
    'For accounts without a passkey. Confirms sensitive actions for the next 10 minutes. A wrong password counts as a ' +
    'failed sign-in.',
  body: ConfirmPassword,
  response: ConfirmedSchema,
  errors: ['forbidden', 'rate_limited'],
  handler: ({ work, caller, body }) => confirmWithPassword(work, requireSession(caller), body.password),
})

export const endpoints = [list, begin, add, remove, reset, beginConfirmation, confirm, confirmByPassword]
