import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { DeveloperEntity, DeveloperKeyEntity, isPortalSession } from '../developers/entity.ts'
import { unchangedKeys } from './keys.ts'
import { loadDeveloper } from './read.ts'
import type { DeveloperKeyView } from './schemas.ts'

/** Matches a UUID. With a guessable Idempotency-Key, anyone who finds the old developer key could fetch the new one. */
const UNGUESSABLE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Replaces the key of this request at once: the main key, or a named key, which keeps its name and expiry (contract/oauth-and-tokens.md#credentials-and-rotation). The old key stops working,
 * except that for ten minutes it gets the same response again under the same Idempotency-Key, if that is a UUID.
 * Otherwise a lost response would lock the developer out.
 * @param presented the key of this request. Of two rotations with the same key, one wins.
 * @throws `conflict` if another rotation was first, `not_a_developer`
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
  const named = developer.keys.find((known) => known.key_hash === old)
  if (named && isPortalSession(named)) throw isSession()
  const keys = named && developer.keys.map((known) => (known === named ? { ...known, key_hash } : known))
  const role = named?.role ?? 'owner'
  const guard = { where: { status: 'active' as const }, otherwise: alreadyRotated }
  await work.commit(
    [
      DeveloperEntity.update(
        { id: developerId },
        { set: named ? { keys } : { key_hash } },
        {
          where: { status: 'active', ...(named ? unchangedKeys(developer) : { key_hash: old }) },
          otherwise: alreadyRotated,
        },
      ),
      DeveloperKeyEntity.create({
        key_hash,
        developer_id: developerId,
        status: 'active',
        created_at: now,
        role,
        ...(named && { expires_at: named.expires_at }),
      }),
      idempotencyKey !== undefined && UNGUESSABLE.test(idempotencyKey)
        ? DeveloperKeyEntity.replace(
            {
              key_hash: old,
              developer_id: developer.id,
              status: 'ended',
              role,
              created_at: now,
              recovery_hash: sha256(idempotencyKey),
              expires_at: now + LIMITS.keyRecovery,
            },
            guard,
          )
        : DeveloperKeyEntity.delete({ key_hash: old }, guard),
      auditDeveloper(
        work,
        developerId,
        'developer.key_rotated',
        { type: 'developer', id: developerId },
        named ? { name: named.name } : {},
      ),
    ],
    view,
  )
  return view
}

/**
 * Checks that a rotation's stored response may be replayed, which requires that its key is still the current one.
 * @returns always true
 * @throws `conflict` if the key was rotated since. A replay must not rotate the key again.
 */
export const checkKeyIsCurrent = async (work: Work, developerId: string, kept: { body: string }): Promise<true> => {
  const { key_hash, keys } = await loadDeveloper(work, developerId)
  const { api_key } = JSON.parse(kept.body) as Partial<DeveloperKeyView>
  // A stored error response has no key.
  if (api_key === undefined) return true
  if ([key_hash, ...keys.map((named) => named.key_hash)].includes(sha256(api_key))) return true
  throw fail('conflict', {
    message: 'The key returned for this Idempotency-Key has since been rotated.',
    fix: 'Use the newest key. To rotate it, send a new Idempotency-Key.',
  })
}

const isSession = () =>
  fail('conflict', {
    message: 'This request’s key is a session, which can’t be rotated.',
    fix: 'Sign in again, or rotate with the key itself.',
  })

const alreadyRotated = () =>
  fail('conflict', {
    message: 'Another request has already rotated this key.',
    fix: 'Use the key that the other request returned.',
  })
