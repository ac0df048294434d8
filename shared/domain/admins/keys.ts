import { CounterEntity } from '../../entities/developers.ts'
import { AdminEntity, AdminKeyEntity, type NamedAdminKey, NamedAdminKeyEntity } from '../../entities/platform.ts'
import { DAY } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { newSecret, sha256 } from '../../kernel/secrets.ts'
import type { Write } from '../../table/entity.ts'
import { either, lt, missing } from '../../table/expressions.ts'
import { auditStaff } from '../audit/write.ts'
import type { Deps } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import { type Actor, nameOf, type StaffWork } from './actor.ts'
import { loadAdmin } from './manage.ts'
import { presentAdminKey } from './present.ts'
import type { NewAdminKeyView } from './schemas.ts'

/** An admin’s keys that have not expired, newest first. @throws `not_found` for an admin that does not exist */
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
 * A new key for an account: it has the account’s role, whatever that is at the time.
 * @throws `not_found`; `conflict` when the account has as many keys as it may
 */
export const createAdminKey = async (
  work: StaffWork,
  actor: Actor,
  adminId: string,
  { name, expires_in_days }: { name: string; expires_in_days: number },
): Promise<NewAdminKeyView> => {
  const id = work.id('adminKey')
  const key = newSecret('adk_')
  return tryAgain(async () => {
    const swept = await expiredKeys(work, adminId)
    const now = work.clock.now()
    const record: NamedAdminKey = {
      id,
      admin_id: adminId,
      key_hash: sha256(key),
      name,
      created_by: nameOf(actor),
      created_at: now,
      expires_at: now + expires_in_days * DAY,
    }
    const view = { ...presentAdminKey(record), key }
    await work.commit(
      [
        AdminEntity.check({ id: adminId }, { otherwise: noAdmin }),
        NamedAdminKeyEntity.create(record),
        AdminKeyEntity.create(opening(record)),
        ...swept.map((old) =>
          NamedAdminKeyEntity.delete({ admin_id: adminId, id: old.id }, { where: { key_hash: old.key_hash } }),
        ),
        ...countKeys(adminId, 1 - swept.length),
        auditStaff(work, actor, 'admin.key_created', { type: 'admin', id: adminId }, { after: shown(record) }),
      ],
      view,
    )
    return view
  })
}

/**
 * Gives a key’s name and id a new secret; the old one is refused from the next request on.
 * @throws `not_found`
 */
export const rotateAdminKey = (
  work: StaffWork,
  actor: Actor,
  { adminId, id, days }: { adminId: string; id: string; days: number },
): Promise<NewAdminKeyView> =>
  tryAgain(async () => {
    const before = await loadKey(work, adminId, id)
    const now = work.clock.now()
    const key = newSecret('adk_')
    const record = { ...before, key_hash: sha256(key), rotated_at: now, expires_at: now + days * DAY }
    const view = { ...presentAdminKey(record), key }
    await work.commit(
      [
        NamedAdminKeyEntity.replace(record, { where: { key_hash: before.key_hash } }),
        AdminKeyEntity.delete({ key_hash: before.key_hash }),
        AdminKeyEntity.create(opening(record)),
        auditStaff(
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

/** Ends a key at once. @throws `not_found` */
export const deleteAdminKey = (work: StaffWork, actor: Actor, adminId: string, id: string): Promise<void> =>
  tryAgain(async () => {
    const key = await loadKey(work, adminId, id)
    await work.commit([
      NamedAdminKeyEntity.delete({ admin_id: adminId, id }, { where: { key_hash: key.key_hash } }),
      AdminKeyEntity.delete({ key_hash: key.key_hash }),
      ...countKeys(adminId, -1),
      auditStaff(work, actor, 'admin.key_deleted', { type: 'admin', id: adminId }, { before: shown(key) }),
    ])
  })

const opening = ({ id, key_hash, admin_id, name, created_at, expires_at }: NamedAdminKey) => ({
  id,
  key_hash,
  admin_id,
  name,
  created_at,
  expires_at,
})

const loadKey = async ({ table }: Pick<Deps, 'table'>, admin_id: string, id: string): Promise<NamedAdminKey> => {
  const key = await table.get(NamedAdminKeyEntity, { admin_id, id })
  if (!key) throw fail('not_found', { message: 'There is no such key.' })
  return key
}

/** Those that are over count until somebody makes room. */
const expiredKeys = async ({ table, clock }: StaffWork, admin_id: string): Promise<NamedAdminKey[]> => {
  const { items } = await table.query(NamedAdminKeyEntity, { admin_id }, { limit: 2 * LIMITS.keysPerAdmin })
  return items.filter(({ expires_at }) => expires_at <= clock.now())
}

const countKeys = (owner: string, by: number): Write[] => {
  const at = { owner, counter: 'keys' }
  const guard = by > 0 ? { where: { n: either(missing, lt(LIMITS.keysPerAdmin)) }, otherwise: tooManyKeys } : undefined
  return by === 0 ? [] : [CounterEntity.upsert(at, { set: at, add: { n: by } }, guard)]
}

const shown = ({ id, name, expires_at }: NamedAdminKey) => ({ key_id: id, name, expires_at })

const noAdmin = () => fail('not_found', { message: 'There is no such admin.' })
const tooManyKeys = () =>
  fail('conflict', {
    message: `The account has ${LIMITS.keysPerAdmin} keys already.`,
    fix: 'Remove one that is not used any more: DELETE /admin/admins/{id}/keys/{key}.',
  })
