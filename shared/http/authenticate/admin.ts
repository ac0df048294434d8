import { adminByKey } from '../../domain/admins/sign-in.ts'
import type { Deps } from '../../domain/deps.ts'
import { AdminEntity } from '../../entities/platform.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { AdminCaller } from '../callers.ts'
import { tokenOf, unauthorized } from '../principal.ts'
import { limit } from '../rate-limit.ts'
import type { Authenticated, Authenticator } from './types.ts'

/** Platform staff: an admin token, or an admin key. */
export const admin: Authenticator<'admin'> = async (deps, { headers, method, again }) => {
  const key = headers['x-admin-key']
  if (key !== undefined) {
    const found = await adminByKey(deps, key)
    if (!found) throw unauthorized('The admin key is wrong, expired or was removed.')
    return adminCaller(deps, { kind: 'admin', admin: found.admin, keyName: found.name }, again)
  }
  const token = await tokenOf(deps, headers, method, ['admin'])
  if (token.kind !== 'admin') throw unauthorized('An admin token is needed.')
  const record = await deps.table.get(AdminEntity, { id: token.claims.adm })
  if (record?.session_version !== token.claims.sv) throw unauthorized('The session has ended.', 'Sign in again.')
  return adminCaller(deps, { kind: 'admin', admin: record, keyName: undefined }, again)
}

const adminCaller = async (
  deps: Deps,
  caller: AdminCaller,
  again: true | undefined,
): Promise<Authenticated<AdminCaller>> => ({
  caller,
  headers: again
    ? {}
    : await limit(deps, [{ name: `admin:${caller.admin.id}`, rate: LIMITS.callerRate, scope: 'admin' }]),
})
