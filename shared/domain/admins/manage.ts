import { ClaimEntity, CounterEntity } from '../../entities/developers.ts'
import { type Admin, AdminEntity, AdminKeyEntity, NamedAdminKeyEntity } from '../../entities/platform.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import { auditStaff } from '../audit/write.ts'
import type { Deps } from '../deps.ts'
import { counted } from '../totals.ts'
import { tryAgain } from '../try-again.ts'
import type { Actor, StaffWork } from './actor.ts'
import { ADMINS, claimEmail, newAdminWrites, oneLessSuperadmin, oneMoreSuperadmin } from './count.ts'
import { hashPassword } from './password.ts'
import { presentAdmin } from './present.ts'
import type { AdminView, CreateAdminInput, EditAdminInput } from './schemas.ts'

/** `POST /admin/admins`. @throws `conflict` for an e-mail address that is taken */
export const createAdmin = async (work: StaffWork, actor: Actor, input: CreateAdminInput): Promise<AdminView> => {
  const { email, name, role, password } = input
  const admin: Admin = {
    id: work.id('admin'),
    email,
    name,
    role,
    password_hash: await hashPassword(password),
    session_version: 1,
    created_at: work.clock.now(),
  }
  const view = presentAdmin(admin)
  await work.commit(
    [
      ...newAdminWrites(admin),
      auditStaff(work, actor, 'admin.created', { type: 'admin', id: admin.id }, { after: { email, name, role } }),
    ],
    view,
  )
  return view
}

/** @throws `not_found` */
export const loadAdmin = async ({ table }: Pick<Deps, 'table'>, id: string): Promise<Admin> => {
  const admin = await table.get(AdminEntity, { id })
  if (!admin) throw fail('not_found', { message: 'There is no such admin.' })
  return admin
}

/**
 * `PATCH /admin/admins/{id}`: what is given changes, the rest stays. Another role, address or password ends the account’s
 * sessions at their next request.
 * @throws `conflict` for an address that is taken, and for the last superadmin’s role; `not_found`
 */
export const editAdmin = async (
  work: StaffWork,
  actor: Actor,
  id: string,
  input: EditAdminInput,
): Promise<AdminView> => {
  const { password, ...fields } = input
  const password_hash = password === undefined ? undefined : await hashPassword(password)
  return tryAgain(async () => {
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
    await work.commit(
      [
        AdminEntity.update(
          { id },
          {
            set: { ...set, ...(password_hash !== undefined && { password_hash }) },
            ...(signsOut && { add: { session_version: 1 } }),
          },
          { where: asItWas(admin) },
        ),
        ...(set.email === undefined ? [] : [claimEmail(after), unclaim(admin)]),
        ...(set.role === undefined ? [] : [set.role === 'superadmin' ? oneMoreSuperadmin() : oneLessSuperadmin()]),
        auditStaff(
          work,
          actor,
          'admin.edited',
          { type: 'admin', id },
          { before, after: set, ...(password_hash !== undefined && { password_changed: true }) },
        ),
      ],
      view,
    )
    return view
  })
}

/**
 * `DELETE /admin/admins/{id}`: the account, its sessions and its keys end at once.
 * @throws `conflict` for the last superadmin; `not_found`
 */
export const deleteAdmin = (work: StaffWork, actor: Actor, id: string): Promise<void> =>
  tryAgain(async () => {
    const admin = await loadAdmin(work, id)
    const keys = await work.table.query(NamedAdminKeyEntity, { admin_id: id }, { limit: LIMITS.keysPerAdmin + 1 })
    const { email, name, role } = admin
    await work.commit([
      AdminEntity.delete({ id }, { where: asItWas(admin) }),
      unclaim(admin),
      counted(ADMINS, id, -1),
      ...(role === 'superadmin' ? [oneLessSuperadmin()] : []),
      ...keys.items.flatMap(({ id: key, key_hash }) => [
        NamedAdminKeyEntity.delete({ admin_id: id, id: key }),
        AdminKeyEntity.delete({ key_hash }),
      ]),
      CounterEntity.delete({ owner: id, counter: 'keys' }),
      auditStaff(work, actor, 'admin.deleted', { type: 'admin', id }, { before: { email, name, role } }),
    ])
  })

const asItWas = ({ email, name, role, session_version }: Admin) => ({ email, name, role, session_version })

const unclaim = ({ id, email }: Admin): Write =>
  ClaimEntity.delete({ kind: 'admin-email', value: email }, { where: { owner_id: id } })
