import type { Work } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Developer, DeveloperKeyEntity, type NamedKey } from '../developers/entity.ts'
import type { DeveloperRole } from '../developers/roles.ts'
import { liveKeys } from './keys.ts'

/** Rights of a session: those of the teammate who signed in, or of the key that opened it. */
interface Bearer {
  role: DeveloperRole
  memberId?: string | undefined
}

interface OpenedSession {
  session_key: string
  expires_in: number
  /** Keys of the account that stay, with the session. */
  keys: NamedKey[]
  writes: Write[]
}

/**
 * Returns a new session and its writes, without the one that stores `keys` in the account. The oldest sessions above the
 * limits end: those of the same person, then those of the account.
 * @param all false if every earlier key ends, too
 */
export const newDeveloperSession = (
  work: Pick<Work, 'clock'>,
  developer: Developer,
  id: string,
  { role, memberId }: Bearer,
  all = true,
): OpenedSession => {
  const session_key = newSecret('dvs_')
  const now = work.clock.now()
  const session: NamedKey = {
    id,
    name: 'session',
    key_hash: sha256(session_key),
    created_at: now,
    expires_at: now + LIMITS.developerSessionLife,
    session: true,
    ...(memberId !== undefined && { member_id: memberId }),
  }
  const kept = all ? withoutOldest(liveKeys(developer, now), memberId) : []
  const ended = (all ? (developer.keys ?? []) : [developer, ...(developer.keys ?? [])]).filter(
    (key) => !kept.includes(key as NamedKey),
  )
  return {
    session_key,
    expires_in: LIMITS.developerSessionLife / 1_000,
    keys: [session, ...kept],
    writes: [
      DeveloperKeyEntity.create({
        key_hash: session.key_hash,
        developer_id: developer.id,
        status: 'active',
        created_at: now,
        expires_at: session.expires_at,
        ...(role !== 'owner' && { role }),
        ...(memberId !== undefined && { member_id: memberId }),
      }),
      ...ended
        .filter((key) => !('expires_at' in key) || key.expires_at > now)
        .map(({ key_hash }) => DeveloperKeyEntity.delete({ key_hash })),
    ],
  }
}

/** Leaves out the oldest sessions that a further one of this person ends. */
const withoutOldest = (live: readonly NamedKey[], memberId: string | undefined): NamedKey[] => {
  const sessions = live.filter(({ session }) => session)
  const own = sessions.filter(({ member_id }) => member_id === memberId).slice(LIMITS.sessionsPerDeveloper - 1)
  const others = sessions.filter((key) => !own.includes(key)).slice(LIMITS.sessionsPerDeveloperAccount - 1)
  return live.filter((key) => !own.includes(key) && !others.includes(key))
}
