import type { Work } from '#shared/foundation/work/index.ts'
import { DAY, iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { missing, type Where } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Developer, DeveloperEntity, DeveloperKeyEntity, type NamedKey } from '../developers/entity.ts'
import { loadDeveloper } from './read.ts'
import type { CreateKeyInput, NamedKeyView, NewNamedKeyView } from './schemas.ts'

/** Condition that an account still has the keys that were read. */
export const unchangedKeys = ({ key_hash, keys }: Developer): Where<Developer> => ({ key_hash, keys: keys ?? missing })

export const presentKey = ({ id, name, created_at, expires_at }: NamedKey): NamedKeyView => ({
  id,
  name,
  created_at: iso(created_at),
  expires_at: iso(expires_at),
})

/** Returns an account's named keys and sessions that haven't expired, newest first. */
export const liveKeys = ({ keys = [] }: Developer, now: number): NamedKey[] =>
  keys.filter(({ expires_at }) => expires_at > now)

export const listKeys = async (work: Work, developerId: string): Promise<NamedKey[]> =>
  liveKeys(await loadDeveloper(work, developerId), work.clock.now()).filter(({ session }) => !session)

/**
 * Creates a named key in addition to the account's main key (`POST /api/v1/dev/me/keys`).
 * @throws `conflict` for a name that another key has, or for more than 20 keys
 */
export const createKey = (
  work: Work,
  developerId: string,
  { name, expires_in_days }: CreateKeyInput,
): Promise<NewNamedKeyView> => {
  const id = work.id('developerKey')
  const api_key = newSecret('dvk_')
  return retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const now = work.clock.now()
    const live = liveKeys(developer, now)
    const named = live.filter(({ session }) => !session)
    if (named.some((known) => known.name === name)) {
      throw fail('conflict', {
        message: `You have a key named ${name}.`,
        fix: 'Choose another name, or delete that key.',
      })
    }
    if (named.length >= LIMITS.keysPerDeveloper) {
      throw fail('conflict', {
        message: `Your account has ${LIMITS.keysPerDeveloper} named keys, which is the limit.`,
        fix: 'Delete a key that is no longer needed.',
      })
    }
    const key: NamedKey = {
      id,
      name,
      key_hash: sha256(api_key),
      created_at: now,
      expires_at: now + expires_in_days * DAY,
    }
    const { key_hash, expires_at } = key
    const view = { ...presentKey(key), api_key }
    await work.commit(
      [
        DeveloperEntity.update(
          { id: developerId },
          { set: { keys: [key, ...live] } },
          { where: { ...unchangedKeys(developer), status: 'active' } },
        ),
        DeveloperKeyEntity.create({
          key_hash,
          developer_id: developerId,
          status: 'active',
          created_at: now,
          expires_at,
        }),
        auditDeveloper(work, developerId, 'developer.key_created', { type: 'developer_key', id }, { name }),
      ],
      view,
    )
    return view
  })
}

/** Ends a named key at once (`DELETE /api/v1/dev/me/keys/{id}`). @throws `not_found` */
export const deleteKey = (work: Work, developerId: string, id: string): Promise<void> =>
  retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const key = developer.keys?.find((known) => known.id === id)
    if (!key) throw fail('not_found', { message: 'You have no named key with this id.' })
    await work.commit([
      DeveloperEntity.update(
        { id: developerId },
        { set: { keys: developer.keys?.filter((known) => known !== key) } },
        { where: unchangedKeys(developer) },
      ),
      DeveloperKeyEntity.delete({ key_hash: key.key_hash }),
      auditDeveloper(work, developerId, 'developer.key_deleted', { type: 'developer_key', id }, { name: key.name }),
    ])
  })
