import { CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, lt, lte, missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { auditAdmin } from '../audit/write.ts'
import { type Actor, type AdminWork, actorId } from './actor.ts'
import { AdminEntity, AdminKeyEntity, type NamedAdminKey, NamedAdminKeyEntity } from './entity.ts'
import { loadAdmin } from './load.ts'
import { presentAdminKey } from './present.ts'
import type { NewAdminKeyView } from './schemas.ts'

/** Lists an admin’s keys that have not expired, newest first. @throws `not_found` for an unknown admin */
export const listAdminKeys = async (deps: Pick<Deps, 'table' | 'clock'>, adminId: string): Promise<NamedAdminKey[]> => {
  await loadAdmin(deps, adminId)
  const { items } = await deps.table.query(
    NamedAdminKeyEntity,
    { admin_id: adminId },
    { limit: 2 * LIMITS.keysPerAdmin },
  )
  return items.filter(({ expires_at }) => expires_at > deps.clock.now())
}

/**
 * Creates a key for an account. The key always has the account’s current role.
 * @throws `not_found` for an unknown admin, `conflict` if the account has the maximum number of keys
 */
export const createAdminKey = async (
  work: AdminWork,
  actor: Actor,
  adminId: string,
  { name, expires_in_days }: { name: string; expires_in_days: number },
): Promise<NewAdminKeyView> => {
  const id = work.id('adminKey')
  const key = newSecret('adk_')
  return retryOnConflict(async () => {
    const expired = await expiredKeys(work, adminId)
    const now = work.clock.now()
    const record: NamedAdminKey = {
      ...stampOf(id),
      admin_id: adminId,
      key_hash: sha256(key),
      name,
      created_by: actorId(actor),
      expires_at: now + expires_in_days * DAY,
    }
    const view = { ...presentAdminKey(record), key }
    await work.commit(
      [
        AdminEntity.check({ id: adminId }, { otherwise: noAdmin }),
        NamedAdminKeyEntity.create(record),
        AdminKeyEntity.create(lookupRecord(record)),
        ...expired.map((old) =>
          NamedAdminKeyEntity.delete({ admin_id: adminId, id: old.id }, { where: { key_hash: old.key_hash } }),
        ),
        ...countKeys(adminId, 1 - expired.length),
        auditAdmin(work, actor, 'admin.key_created', { type: 'admin', id: adminId }, { after: shown(record) }),
      ],
      view,
    )
    return view
  })
}

/**
 * Replaces the secret of a key and keeps its name and id. The old secret stops working with the next request.
 * @throws `not_found`
 */
export const rotateAdminKey = (
  work: AdminWork,
  actor: Actor,
  { adminId, id, days }: { adminId: string; id: string; days: number },
): Promise<NewAdminKeyView> =>
  retryOnConflict(async () => {
    const before = await loadKey(work, adminId, id)
    const now = work.clock.now()
    const key = newSecret('adk_')
    const record = { ...before, key_hash: sha256(key), rotated_at: now, expires_at: now + days * DAY }
    const view = { ...presentAdminKey(record), key }
    await work.commit(
      [
        NamedAdminKeyEntity.replace(record, { where: { key_hash: before.key_hash } }),
        AdminKeyEntity.delete({ key_hash: before.key_hash }),
        AdminKeyEntity.create(lookupRecord(record)),
        auditAdmin(
          work,
          actor,
          'admin.key_rotated',
          { type: 'admin', id: adminId },
          { before: shown(before), after: shown(record) },
        ),
      ],
      view,
    )
    return view
  })

/** Deletes a key. It stops working at once. @throws `not_found` */
export const deleteAdminKey = (work: AdminWork, actor: Actor, adminId: string, id: string): Promise<void> =>
  retryOnConflict(async () => {
    const key = await loadKey(work, adminId, id)
    await work.commit([
      NamedAdminKeyEntity.delete({ admin_id: adminId, id }, { where: { key_hash: key.key_hash } }),
      AdminKeyEntity.delete({ key_hash: key.key_hash }),
      ...countKeys(adminId, -1),
      auditAdmin(work, actor, 'admin.key_deleted', { type: 'admin', id: adminId }, { before: shown(key) }),
    ])
  })

/**
 * Returns the writes that end every key of an account. They fail if a key is created, replaced or deleted at the same
 * moment.
 */
export const endKeysWrites = async (
  { table }: Pick<Deps, 'table'>,
  adminId: string,
): Promise<{ ids: string[]; writes: Write[] }> => {
  const { items } = await table.query(NamedAdminKeyEntity, { admin_id: adminId }, { limit: 2 * LIMITS.keysPerAdmin })
  const at = { owner: adminId, counter: 'keys' }
  const known = items.length === 0 ? either(missing, lte(0)) : items.length
  return {
    ids: items.map(({ id }) => id),
    writes: [
      ...items.flatMap(({ id, key_hash }) => [
        NamedAdminKeyEntity.delete({ admin_id: adminId, id }, { where: { key_hash } }),
        AdminKeyEntity.delete({ key_hash }),
      ]),
      CounterEntity.upsert(at, { set: { ...at, n: 0 } }, { where: { n: known } }),
    ],
  }
}

const lookupRecord = ({ id, key_hash, admin_id, name, created_at, expires_at }: NamedAdminKey) => ({
  id,
  key_hash,
  admin_id,
  name,
  created_at,
  expires_at,
})

const loadKey = async ({ table }: Pick<Deps, 'table'>, admin_id: string, id: string): Promise<NamedAdminKey> => {
  const key = await table.get(NamedAdminKeyEntity, { admin_id, id })
  if (!key) throw fail('not_found', { message: 'This admin has no key with this id.' })
  return key
}

/** Finds expired keys. They count against the limit until a new key replaces them. */
const expiredKeys = async ({ table, clock }: AdminWork, admin_id: string): Promise<NamedAdminKey[]> => {
  const { items } = await table.query(NamedAdminKeyEntity, { admin_id }, { limit: 2 * LIMITS.keysPerAdmin })
  return items.filter(({ expires_at }) => expires_at <= clock.now())
}

const countKeys = (owner: string, by: number): Write[] => {
  const at = { owner, counter: 'keys' }
  const guard = by > 0 ? { where: { n: either(missing, lt(LIMITS.keysPerAdmin)) }, otherwise: tooManyKeys } : undefined
  return by === 0 ? [] : [CounterEntity.upsert(at, { set: at, add: { n: by } }, guard)]
}

const shown = ({ id, name, expires_at }: NamedAdminKey) => ({ key_id: id, name, expires_at })

const noAdmin = () => fail('not_found', { message: 'No admin has this id.' })

const tooManyKeys = () =>
  fail('conflict', {
    message: `The account already has the maximum of ${LIMITS.keysPerAdmin} keys.`,
    fix: 'Delete a key that is no longer used: DELETE /admin/admins/{id}/keys/{key}.',
  })
