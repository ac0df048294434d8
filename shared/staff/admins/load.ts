import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { type Admin, AdminEntity } from './entity.ts'

/** Loads an admin. @throws `not_found` */
export const loadAdmin = async ({ table }: Pick<Deps, 'table'>, id: string): Promise<Admin> => {
  const admin = await table.get(AdminEntity, { id })
  if (!admin) throw fail('not_found', { message: 'No admin has this id.' })
  return admin
}
