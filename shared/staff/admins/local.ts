import type { Deps } from '#shared/foundation/work/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { derivedId, stampOf } from '#shared/kernel/ids.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { newAdminWrites } from './count.ts'
import { type Admin, AdminKeyEntity } from './entity.ts'
import { hashPassword } from './password.ts'

/** Public credentials of the local run (contract/local-run.md#fixed-credentials). */
export const LOCAL_ADMIN = {
  email: 'admin@example.com',
  password: 'local-admin-password',
  key: 'local-admin-key',
  keyName: 'local',
} as const

let hash: Promise<string> | undefined

/** Hashing takes 35 ms of CPU, and the password is public: all tables of a process may share its hash. */
const localPasswordHash = (): Promise<string> => {
  hash ??= hashPassword(LOCAL_ADMIN.password)
  return hash
}

/**
 * Creates the local run's admin and key on first use. The id is derived, so of several concurrent calls one wins and
 * the others find its records. Call it only if `LOCAL_ADMIN` is on, which requires a loopback store.
 */
export const ensureLocalAdmin = async ({ table, clock }: Pick<Deps, 'table' | 'clock'>): Promise<void> => {
  const now = clock.now()
  const admin: Admin = {
    ...stampOf(derivedId('admin', 0, LOCAL_ADMIN.email), now),
    email: LOCAL_ADMIN.email,
    name: 'Local admin',
    role: 'superadmin',
    password_hash: await localPasswordHash(),
    session_version: 1,
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
