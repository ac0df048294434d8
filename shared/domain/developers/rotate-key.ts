import { DeveloperEntity, DeveloperKeyEntity } from '../../entities/developers.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { newSecret, sha256 } from '../../kernel/secrets.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { loadDeveloper } from './read.ts'
import type { DeveloperKeyView } from './schemas.ts'

/** A key that somebody could guess would hand the new developer key to whoever found the old one. */
const UNGUESSABLE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Replaces the developer key at once (decisions §2). The old one opens nothing any more, but for ten minutes it gets this
 * answer again under the same Idempotency-Key, if that is a UUID: else a lost answer would lock the developer out.
 * @param presented the key that the request was sent with: of two rotations with it one wins
 * @throws `conflict` when another rotation came first, `not_a_developer`
 */
export const rotateKey = async (
  work: Work,
  developerId: string,
  presented: string,
  idempotencyKey: string | undefined,
): Promise<DeveloperKeyView> => {
  const developer = await loadDeveloper(work, developerId)
  const now = work.clock.now()
  const old = sha256(presented)
  const api_key = newSecret('dvk_')
  const key_hash = sha256(api_key)
  const view = { api_key }
  const still = { where: { status: 'active' as const }, otherwise: rotatedMeanwhile }
  await work.commit(
    [
      DeveloperEntity.update(
        { id: developerId },
        { set: { key_hash } },
        { where: { key_hash: old, status: 'active' }, otherwise: rotatedMeanwhile },
      ),
      DeveloperKeyEntity.create({ key_hash, developer_id: developerId, status: 'active', created_at: now }),
      idempotencyKey !== undefined && UNGUESSABLE.test(idempotencyKey)
        ? DeveloperKeyEntity.replace(
            {
              key_hash: old,
              developer_id: developer.id,
              status: 'ended',
              created_at: now,
              recovery_hash: sha256(idempotencyKey),
              expires_at: now + LIMITS.keyRecovery,
            },
            still,
          )
        : DeveloperKeyEntity.delete({ key_hash: old }, still),
      auditDeveloper(work, developerId, 'developer.key_rotated', { type: 'developer', id: developerId }),
    ],
    view,
  )
  return view
}

/**
 * Whether a rotation's kept answer may be given again: only while the key in it is the current one.
 * @returns always true
 * @throws `conflict` when it is not: rotating once more is not what a repeat means
 */
export const stillCurrent = async (work: Work, developerId: string, kept: { body: string }): Promise<true> => {
  const { key_hash } = await loadDeveloper(work, developerId)
  const { api_key } = JSON.parse(kept.body) as Partial<DeveloperKeyView>
  // A kept refusal holds no key.
  if (api_key === undefined || sha256(api_key) === key_hash) return true
  throw fail('conflict', {
    message: 'The key that this Idempotency-Key got was rotated since.',
    fix: 'Use the newest key; to rotate it, send a new Idempotency-Key.',
  })
}

const rotatedMeanwhile = () =>
  fail('conflict', {
    message: 'Another rotation of this key came first.',
    fix: 'Use the key that the other rotation returned.',
  })
