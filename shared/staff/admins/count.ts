import { ClaimEntity, CounterEntity } from '#shared/foundation/claims/index.ts'
import { totalWrite } from '#shared/foundation/totals/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Write } from '#shared/table/entity.ts'
import { gte } from '#shared/table/expressions.ts'
import { type Admin, AdminEntity } from './entity.ts'

/** Name of the list of all admins and of its total. */
export const ADMINS = 'admins'

const SUPERADMINS = { owner: 'platform', counter: 'superadmins' } as const

/** Returns the write that counts a new superadmin. */
export const addSuperadminWrite = (): Write => CounterEntity.upsert(SUPERADMINS, { set: SUPERADMINS, add: { n: 1 } })

/** Returns the write that counts a superadmin out. Fails for the last one, even under concurrent removals. */
export const removeSuperadminWrite = (): Write =>
  CounterEntity.update(SUPERADMINS, { add: { n: -1 } }, { where: { n: gte(2) }, otherwise: lastOne })

const lastOne = () =>
  fail('conflict', {
    message: 'This is the last superadmin.',
    fix: 'Make another admin a superadmin first: PATCH /admin/admins/{id} {"role": "superadmin"}.',
  })

/** Returns the writes that create an account and claim its e-mail address, which must be unique. */
export const newAdminWrites = (admin: Admin): Write[] => [
  claimEmail(admin),
  AdminEntity.create(admin),
  totalWrite(ADMINS, admin.id, 1),
  ...(admin.role === 'superadmin' ? [addSuperadminWrite()] : []),
]

export const claimEmail = ({ id, email }: Pick<Admin, 'id' | 'email'>): Write =>
  ClaimEntity.create({ kind: 'admin-email', value: email, owner_id: id }, { otherwise: emailTaken })

const emailTaken = () =>
  fail('conflict', {
    message: 'An admin account with this e-mail address already exists.',
    fix: 'Change that account, or use another address.',
  })
