import { randomUUID } from 'node:crypto'
import { bearer, LOCAL_ADMIN, type WorldContext } from './context.ts'

/** Creates a moderator, a superadmin with a key, and another with a key who may be changed and deleted. */
export const createStaff = async ({ unique, call }: WorldContext) => {
  const account = async (name: string, role: 'moderator' | 'superadmin') => {
    const signIn = { email: `${name}-${unique}@example.com`, password: randomUUID() }
    const { id } = await call('POST', '/admin/admins', LOCAL_ADMIN, { ...signIn, name, role })
    const key = await call('POST', `/admin/admins/${id}/keys`, LOCAL_ADMIN, { name: 'ci' })
    const session = await call('POST', '/admin/auth/login', {}, signIn)
    return { id: id as string, key, session: bearer(session.token) }
  }
  const moderator = await account('moderator', 'moderator')
  const superadmin = await account('superadmin', 'superadmin')
  const other = await account('other', 'moderator')
  return {
    credentials: {
      moderator: moderator.session,
      superadmin: superadmin.session,
      key: { 'X-Admin-Key': superadmin.key.key as string },
    },
    ids: { admin: other.id, adminKey: other.key.id },
    buckets: [`admin:${moderator.id}`, `admin:${superadmin.id}`, 'admin-address:127.0.0.1'],
  }
}
