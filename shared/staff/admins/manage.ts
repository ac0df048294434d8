import { ClaimEntity, CounterEntity } from '#shared/foundation/claims/index.ts'
import { listPasskeys, removePasskeyWrite } from '#shared/foundation/passkeys/index.ts'
import { totalWrite } from '#shared/foundation/totals/index.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { auditAdmin } from '../audit/write.ts'
import type { Actor, AdminWork } from './actor.ts'
import { ADMINS, addSuperadminWrite, claimEmail, newAdminWrites, removeSuperadminWrite } from './count.ts'
import { type Admin, AdminEntity, AdminKeyEntity, NamedAdminKeyEntity } from './entity.ts'
import { endKeysWrites } from './keys.ts'
import { loadAdmin } from './load.ts'
import { hashPassword } from './password.ts'
import { presentAdmin } from './present.ts'
import type { AdminView, CreateAdminInput, EditAdminInput } from './schemas.ts'

/** Creates an admin (`POST /admin/admins`). @throws `conflict` if the e-mail address is taken */
export const createAdmin = async (work: AdminWork, actor: Actor, input: CreateAdminInput): Promise<AdminView> => {
  const { email, name, role, password } = input
  const admin: Admin = {
    ...stampOf(work.id('admin')),
    email,
    name,
    role,
    password_hash: await hashPassword(password),
    session_version: 1,
  }
  const view = presentAdmin(admin)
  await work.commit(
    [
      ...newAdminWrites(admin),
      auditAdmin(work, actor, 'admin.created', { type: 'admin', id: admin.id }, { after: { email, name, role } }),
    ],
    view,
  )
  return view
}

/**
 * Changes the given fields of an admin (`PATCH /admin/admins/{id}`). A new role, address or password ends the account’s
 * sessions at their next request. A new password ends its keys too.
 * @throws `conflict` if the address is taken or the last superadmin would lose the role, `not_found`
 */
export const editAdmin = async (
  work: AdminWork,
  actor: Actor,
  id: string,
  input: EditAdminInput,
): Promise<AdminView> => {
  const { password, ...fields } = input
  const password_hash = password === undefined ? undefined : await hashPassword(password)
  return retryOnConflict(async () => {
    const admin = await loadAdmin(work, id)
    const given = Object.entries(fields).filter(
      ([name, value]) => value !== undefined && admin[name as never] !== value,
    )
    const set = Object.fromEntries(given) as Partial<Pick<Admin, 'email' | 'name' | 'role'>>
    const after = { ...admin, ...set }
    const view = presentAdmin(after)
    if (given.length === 0 && password_hash === undefined) return view
    const signsOut = set.role !== undefined || set.email !== undefined || password_hash !== undefined
    const before = Object.fromEntries(Object.keys(set).map((name) => [name, admin[name as keyof typeof set]]))
    // Somebody resets a password because it was lost or stolen. The person who used it may have made keys.
    const ended = password_hash === undefined ? undefined : await endKeysWrites(work, id)
    await work.commit(
      [
        AdminEntity.update(
          { id },
          {
            set: { ...set, ...(password_hash !== undefined && { password_hash }) },
            ...(signsOut && { add: { session_version: 1 } }),
          },
          { where: unchanged(admin) },
        ),
        ...(set.email === undefined ? [] : [claimEmail(after), releaseEmail(admin)]),
        ...(ended?.writes ?? []),
        ...(set.role === undefined ? [] : [set.role === 'superadmin' ? addSuperadminWrite() : removeSuperadminWrite()]),
        auditAdmin(
          work,
          actor,
          'admin.edited',
          { type: 'admin', id },
          { before, after: set, ...(ended && { password_changed: true, keys_ended: ended.ids }) },
        ),
      ],
      view,
    )
    return view
  })
}

/**
 * Deletes an admin (`DELETE /admin/admins/{id}`). The account, its sessions and its keys end at once.
 * @throws `conflict` for the last superadmin, `not_found`
 */
export const deleteAdmin = (work: AdminWork, actor: Actor, id: string): Promise<void> =>
  retryOnConflict(async () => {
    const admin = await loadAdmin(work, id)
    const [keys, passkeys] = await Promise.all([
      work.table.query(NamedAdminKeyEntity, { admin_id: id }, { limit: LIMITS.keysPerAdmin + 1 }),
      listPasskeys(work, id),
    ])
    const { email, name, role } = admin
    await work.commit([
      AdminEntity.delete({ id }, { where: unchanged(admin) }),
      releaseEmail(admin),
      totalWrite(ADMINS, id, -1),
      ...(role === 'superadmin' ? [removeSuperadminWrite()] : []),
      ...keys.items.flatMap(({ id: key, key_hash }) => [
        NamedAdminKeyEntity.delete({ admin_id: id, id: key }),
        AdminKeyEntity.delete({ key_hash }),
      ]),
      ...passkeys.map((passkey) => removePasskeyWrite(id, passkey.id)),
      CounterEntity.delete({ owner: id, counter: 'keys' }),
      auditAdmin(work, actor, 'admin.deleted', { type: 'admin', id }, { before: { email, name, role } }),
    ])
  })

const unchanged = ({ email, name, role, session_version }: Admin) => ({ email, name, role, session_version })

const releaseEmail = ({ id, email }: Admin): Write =>
  ClaimEntity.delete({ kind: 'admin-email', value: email }, { where: { owner_id: id } })
