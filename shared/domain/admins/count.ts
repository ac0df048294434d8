import { ClaimEntity, CounterEntity } from '../../entities/developers.ts'
import { type Admin, AdminEntity } from '../../entities/platform.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { gte } from '../../table/expressions.ts'
import { counted } from '../totals.ts'

/** The list of all admins, and its total. */
export const ADMINS = 'admins'

const SUPERADMINS = { owner: 'platform', counter: 'superadmins' } as const

/** One more who may do everything. */
export const oneMoreSuperadmin = (): Write => CounterEntity.upsert(SUPERADMINS, { set: SUPERADMINS, add: { n: 1 } })

/** One less, of at least two: of two who go at once one stays. */
export const oneLessSuperadmin = (): Write =>
  CounterEntity.update(SUPERADMINS, { add: { n: -1 } }, { where: { n: gte(2) }, otherwise: lastOne })

const lastOne = () =>
  fail('conflict', {
    message: 'This is the last superadmin.',
    fix: 'Make somebody else a superadmin first: PATCH /admin/admins/{id} {"role": "superadmin"}.',
  })

/** What makes an account: with its e-mail address, which only one may have. */
export const newAdminWrites = (admin: Admin): Write[] => [
  claimEmail(admin),
  AdminEntity.create(admin),
  counted(ADMINS, admin.id, 1),
  ...(admin.role === 'superadmin' ? [oneMoreSuperadmin()] : []),
]

export const claimEmail = ({ id, email }: Pick<Admin, 'id' | 'email'>): Write =>
  ClaimEntity.create({ kind: 'admin-email', value: email, owner_id: id }, { otherwise: emailTaken })

const emailTaken = () =>
  fail('conflict', {
    message: 'This e-mail address has an admin account already.',
    fix: 'Change that account, or take another address.',
  })
