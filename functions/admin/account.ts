import { type Context, defineEndpoint } from '#shared/http/endpoint.ts'
import { addressKey } from '#shared/http/source-address.ts'
import {
  AdminIdentitySchema,
  ChangePassword,
  changePassword,
  isAdminSessionLive,
  presentAdmin,
  presentOwnSession,
  SignedInSchema,
  SignIn,
  signIn,
} from '#shared/staff/admins/index.ts'

type Request = Pick<Context<'none', never, never, never>['request'], 'headers' | 'sourceIp'>

const addressOf = ({ sourceIp }: Request): string | undefined =>
  sourceIp === undefined ? undefined : addressKey(sourceIp)

const placeOf = ({ sourceIp, headers }: Request) => ({ sourceIp, userAgent: headers['user-agent'] })

const login = defineEndpoint({
  id: 'admin.account.signIn',
  group: 'admin',
  method: 'POST',
  path: '/admin/auth/login',
  caller: 'none',
  anonymous: 'signIn',
  summary: 'Sign in with an email address and password',
  description:
    'The token is valid for 8 hours. After 5 failed attempts within 15 minutes, further attempts are `rate_limited`. ' +
    'Failures are counted per source address, so that guessing doesn’t lock anybody out of their account. If ' +
    '`next_step` isn’t null, the token can only complete the sign-in, within 10 minutes.',
  body: SignIn,
  response: SignedInSchema,
  errors: ['unauthorized', 'rate_limited'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:staff', 'keys:public'],
  replays: (work, _caller, _body, _params, kept) => isAdminSessionLive(work, kept),
  handler: ({ work, body, request }) => signIn(work, body, addressOf(request), placeOf(request)),
})

const me = defineEndpoint({
  id: 'admin.account.read',
  group: 'admin',
  method: 'GET',
  path: '/admin/me',
  caller: 'admin',
  role: 'moderator',
  summary: 'Get the signed-in admin',
  response: AdminIdentitySchema,
  whileSigningIn: true,
  handler: async ({ caller: { admin, keyName, session, nextStep } }) => ({
    ...presentAdmin(admin),
    session: session ? presentOwnSession(admin, session, nextStep) : null,
    key_name: keyName ?? null,
  }),
})

const password = defineEndpoint({
  id: 'admin.account.changePassword',
  group: 'admin',
  method: 'POST',
  path: '/admin/me/password',
  caller: 'admin',
  role: 'moderator',
  summary: 'Change your password',
  description:
    'Ends every session and every admin key of the account, including this session, and returns a new token. With ' +
    '`keep_keys`, keys stay. If the response is lost, sign in with the new password. A wrong current password returns `forbidden` and counts as a failed sign-in.',
  body: ChangePassword,
  response: SignedInSchema,
  errors: ['forbidden', 'conflict', 'rate_limited'],
  secret: true,
  needs: ['keys:staff'],
  handler: ({ work, caller, body, request }) =>
    changePassword(work, caller, body, addressOf(request), placeOf(request)),
})

export const endpoints = [login, me, password]
