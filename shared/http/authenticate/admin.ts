import type { Deps } from '#shared/foundation/work/index.ts'
import { confirmationOf, findAdminByKey, loadAdminSession, nextStepOf } from '#shared/staff/admins/index.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { authenticateToken, unauthorized } from '../bearer-token.ts'
import type { AdminCaller } from '../callers.ts'
import { takeRateLimit } from '../rate-limit.ts'
import type { Authenticated, Authenticator } from './types.ts'

/** Authenticates an admin by an admin token or an admin key. */
export const admin: Authenticator<'admin'> = async (deps, { headers, method, again }) => {
  const key = headers['x-admin-key']
  if (key !== undefined) {
    const found = await findAdminByKey(deps, key)
    if (!found) throw unauthorized('The admin key is invalid, expired or deleted.')
    // Nobody is there to confirm anything. Keys are created with a confirmation.
    const confirmation = { method: 'password', isRecent: true, isOptional: true } as const
    const caller = { admin: found.admin, keyName: found.name, session: undefined, nextStep: undefined, confirmation }
    return adminCaller(deps, { kind: 'admin', ...caller }, again)
  }
  const token = await authenticateToken(deps, headers, method, ['admin'])
  if (token.kind !== 'admin') throw unauthorized('This endpoint requires an admin token.')
  const live = await loadAdminSession(deps, token.claims)
  if (!live) throw unauthorized('The session has ended.', 'Sign in again.')
  const { method: confirmsWith, until } = confirmationOf(live.admin, live.session)
  const caller: AdminCaller = {
    kind: 'admin',
    ...live,
    keyName: undefined,
    nextStep: nextStepOf(deps, live.admin, live.session),
    confirmation: {
      method: confirmsWith,
      isRecent: until > deps.clock.now(),
      isOptional: deps.settings.staffSecondFactor === 'optional' && confirmsWith === 'password',
    },
  }
  return adminCaller(deps, caller, again)
}

const adminCaller = async (
  deps: Deps,
  caller: AdminCaller,
  again: true | undefined,
): Promise<Authenticated<AdminCaller>> => ({
  caller,
  headers: again
    ? {}
    : await takeRateLimit(deps, { name: `admin:${caller.admin.id}`, rate: LIMITS.callerRate, scope: 'admin' }),
})
