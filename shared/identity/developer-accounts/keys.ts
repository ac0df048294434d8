import type { Work } from '#shared/foundation/work/index.ts'
import { DAY, iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import type { Where } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import {
  type AccountKey,
  type Developer,
  DeveloperEntity,
  DeveloperKeyEntity,
  isPortalSession,
  type NamedKey,
} from '../developers/entity.ts'
import { liveKeys } from '../developers/rights.ts'
import { loadDeveloper } from './read.ts'
import type { CreateKeyInput, EditKeyInput, NamedKeyView, NewNamedKeyView } from './schemas.ts'

/** Condition that an account still has the keys that were read. */
export const unchangedKeys = ({ key_hash, keys }: Developer): Where<Developer> => ({ key_hash, keys })

const presentKey = ({ id, name, role, created_at, expires_at }: NamedKey, lastUsedAt?: number): NamedKeyView => ({
  id,
  name,
  role,
  created_at: iso(created_at),
  expires_at: iso(expires_at),
  last_used_at: lastUsedAt === undefined ? null : iso(lastUsedAt),
})

/** Lists an account's named keys, newest first (`GET /api/v1/dev/me/keys`). */
export const listKeys = async (work: Work, developerId: string): Promise<NamedKeyView[]> => {
  const keys = namedKeys(await loadDeveloper(work, developerId), work.clock.now())
  const records = await work.table.getAll(keys.map(({ key_hash }) => DeveloperKeyEntity.ref({ key_hash })))
  return keys.map((key, i) => presentKey(key, records[i]?.last_used_at))
}

const namedKeys = (developer: Developer, now: number): NamedKey[] => liveKeys(developer, now).filter(isNamed)

const isNamed = (key: AccountKey): key is NamedKey => !isPortalSession(key)

/**
 * Creates a named key in addition to the account's main key (`POST /api/v1/dev/me/keys`).
 * @throws `conflict` for a name that another key has, or for more than 20 keys
 */
export const createKey = (
  work: Work,
  developerId: string,
  { name, role, expires_in_days }: CreateKeyInput,
): Promise<NewNamedKeyView> => {
  const id = work.id('developerKey')
  const api_key = newSecret('dvk_')
  return retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const now = work.clock.now()
    const named = namedKeys(developer, now)
    if (named.some((known) => known.name === name)) throw nameTaken(name)
    if (named.length >= LIMITS.keysPerDeveloper) {
      throw fail('conflict', {
        message: `Your account has ${LIMITS.keysPerDeveloper} named keys, which is the limit.`,
        fix: 'Delete a key that is no longer needed.',
      })
    }
    const key: NamedKey = {
      ...stampOf(id),
      name,
      key_hash: sha256(api_key),
      expires_at: now + expires_in_days * DAY,
      role,
    }
    const { key_hash, expires_at } = key
    const view = { ...presentKey(key), api_key }
    await work.commit(
      [
        DeveloperEntity.update(
          { id: developerId },
          { set: { keys: [key, ...liveKeys(developer, now)] } },
          { where: { ...unchangedKeys(developer), status: 'active' } },
        ),
        DeveloperKeyEntity.create({
          key_hash,
          developer_id: developerId,
          status: 'active',
          created_at: now,
          expires_at,
          role,
        }),
        auditDeveloper(work, developerId, 'developer.key_created', { type: 'developer_key', id }, { name, role }),
      ],
      view,
    )
    return view
  })
}

const nameTaken = (name: string) =>
  fail('conflict', { message: `You have a key named ${name}.`, fix: 'Choose another name, or delete that key.' })

/**
 * Changes the name or the rights of a named key, from its next request on (`PATCH /api/v1/dev/me/keys/{id}`).
 * @throws `not_found`; `conflict` for a name that another key has
 */
export const editKey = (work: Work, developerId: string, id: string, changes: EditKeyInput): Promise<NamedKeyView> =>
  retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const now = work.clock.now()
    const live = liveKeys(developer, now)
    const named = live.filter(isNamed)
    const key = named.find((known) => known.id === id)
    if (!key) throw noKey()
    const { name = key.name, role = key.role } = changes
    if (named.some((other) => other !== key && other.name === name)) throw nameTaken(name)
    const edited: NamedKey = { ...key, name, role }
    const record = await work.table.get(DeveloperKeyEntity, { key_hash: key.key_hash })
    const view = presentKey(edited, record?.last_used_at)
    await work.commit(
      [
        DeveloperEntity.update(
          { id: developerId },
          { set: { keys: live.map((known) => (known === key ? edited : known)) } },
          { where: { ...unchangedKeys(developer), status: 'active' } },
        ),
        DeveloperKeyEntity.update({ key_hash: key.key_hash }, { set: { role } }),
        auditDeveloper(
          work,
          developerId,
          'developer.key_edited',
          { type: 'developer_key', id },
          { before: { name: key.name, role: key.role }, after: { name, role } },
        ),
      ],
      view,
    )
    return view
  })

const noKey = () => fail('not_found', { message: 'You have no named key with this id.' })

/** Ends a named key at once (`DELETE /api/v1/dev/me/keys/{id}`). @throws `not_found` */
export const deleteKey = (work: Work, developerId: string, id: string): Promise<void> =>
  retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const key = developer.keys.filter(isNamed).find((known) => known.id === id)
    if (!key) throw noKey()
    await work.commit([
      DeveloperEntity.update(
        { id: developerId },
        { set: { keys: developer.keys.filter((known) => known !== key) } },
        { where: unchangedKeys(developer) },
      ),
      DeveloperKeyEntity.delete({ key_hash: key.key_hash }),
      auditDeveloper(work, developerId, 'developer.key_deleted', { type: 'developer_key', id }, { name: key.name }),
    ])
  })
