import { presentAdmin } from '#shared/domain/admins/present.ts'
import { AdminIdentitySchema, ChangePassword, SignedInSchema, SignIn } from '#shared/domain/admins/schemas.ts'
import { changePassword, signIn } from '#shared/domain/admins/sign-in.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { addressKey } from '#shared/http/source-address.ts'

const login = defineEndpoint({
  id: 'admin.account.signIn',
  group: 'admin',
  method: 'POST',
  path: '/admin/auth/login',
  caller: 'none',
  summary: 'Sign in with e-mail and password',
  description:
    'The token is valid for 8 hours. After 5 failures within 15 minutes, counted by e-mail address and by source ' +
    'address, further attempts are `rate_limited`.',
  body: SignIn,
  response: SignedInSchema,
  errors: ['unauthorized', 'rate_limited'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:admin'],
  handler: ({ work, body, request }) =>
    signIn(work, body, request.sourceIp === undefined ? undefined : addressKey(request.sourceIp)),
})

const me = defineEndpoint({
  id: 'admin.account.read',
  group: 'admin',
  method: 'GET',
  path: '/admin/me',
  caller: 'admin',
  role: 'moderator',
  summary: 'Who is signed in',
  response: AdminIdentitySchema,
  handler: async ({ caller }) => ({ ...presentAdmin(caller.admin), key_name: caller.keyName ?? null }),
})

const password = defineEndpoint({
  id: 'admin.account.changePassword',
  group: 'admin',
  method: 'POST',
  path: '/admin/me/password',
  caller: 'admin',
  role: 'moderator',
  summary: 'Change one’s own password',
  description:
    'Every session of the account ends, this one included; the answer has a new one; if it is lost, sign in with the new password. A wrong current password is `forbidden` and ' +
    'counts like a failed sign-in.',
  body: ChangePassword,
  response: SignedInSchema,
  errors: ['forbidden', 'conflict', 'rate_limited'],
  secret: true,
  needs: ['keys:admin'],
  handler: ({ work, caller, body }) => changePassword(work, caller, body),
})

export const accountEndpoints = [login, me, password]
