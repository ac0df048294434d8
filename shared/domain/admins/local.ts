import { type Admin, AdminKeyEntity } from '../../entities/platform.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { derivedId } from '../../kernel/ids.ts'
import { sha256 } from '../../kernel/secrets.ts'
import { ConditionFailed } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'
import { newAdminWrites } from './count.ts'
import { hashPassword } from './password.ts'

/** What the local run documents for everybody (decisions §10). */
export const LOCAL_ADMIN = {
  email: 'admin@example.com',
  password: 'local-admin-password',
  key: 'local-admin-key',
  keyName: 'local',
} as const

/**
 * Makes the local run's admin and key at their first use. Their id is derived, so of several that try at once one wins
 * and the others find its records. Only where `LOCAL_ADMIN` is on, which the settings allow beside a loopback store only.
 */
export const ensureLocalAdmin = async ({ table, clock }: Pick<Deps, 'table' | 'clock'>): Promise<void> => {
  const now = clock.now()
  const admin: Admin = {
    id: derivedId('admin', 0, LOCAL_ADMIN.email),
    email: LOCAL_ADMIN.email,
    name: 'Local admin',
    role: 'superadmin',
    password_hash: await hashPassword(LOCAL_ADMIN.password),
    session_version: 1,
    created_at: now,
  }
  try {
    await table.transact([
      ...newAdminWrites(admin),
      AdminKeyEntity.create({
        key_hash: sha256(LOCAL_ADMIN.key),
        admin_id: admin.id,
        name: LOCAL_ADMIN.keyName,
        created_at: now,
      }),
    ])
  } catch (error) {
    if (!(error instanceof ConditionFailed) && !(error instanceof PlatformError && error.code === 'conflict'))
      throw error
  }
}
