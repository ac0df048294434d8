import type { Work } from '#shared/foundation/work/index.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import {
  type AccountKey,
  type Developer,
  DeveloperKeyEntity,
  isPortalSession,
  type PortalSession,
  type SIGN_INS,
} from '../developers/entity.ts'
import { liveKeys } from '../developers/rights.ts'
import { deviceOf } from '../people/device.ts'

/** How a session begins. */
interface SignIn {
  /** Hash of the key that opens it, or id of the teammate who signs in. */
  givenBy: string
  via: (typeof SIGN_INS)[number]
}

interface OpenedSession {
  session_key: string
  expires_in: number
  /** Keys of the account that stay, with the session. */
  keys: AccountKey[]
  writes: Write[]
}

/**
 * Returns a new session and its writes, without the one that stores `keys` in the account. The oldest sessions above the
 * limits end: those of the same person, then those of the account.
 * @param all false if every earlier key ends, too
 */
export const newDeveloperSession = (
  work: Pick<Work, 'clock' | 'sourceIp' | 'userAgent'>,
  developer: Developer,
  id: string,
  { givenBy, via }: SignIn,
  all = true,
): OpenedSession => {
  const session_key = newSecret('dvs_')
  const now = work.clock.now()
  const session: PortalSession = {
    ...stampOf(id),
    key_hash: sha256(session_key),
    expires_at: now + LIMITS.developerSessionLife,
    session: { given_by: givenBy, via, source_ip: work.sourceIp, ...deviceOf(work.userAgent) },
  }
  const kept = all ? withoutOldest(liveKeys(developer, now), givenBy) : []
  const ended = developer.keys.filter((key) => !kept.includes(key) && key.expires_at > now)
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
        role: null,
      }),
      ...[...(all ? [] : [developer]), ...ended].map(({ key_hash }) => DeveloperKeyEntity.delete({ key_hash })),
    ],
  }
}

/** Leaves out the oldest sessions that a further one of this key or teammate ends. */
const withoutOldest = (live: readonly AccountKey[], givenBy: string): AccountKey[] => {
  const sessions = live.filter(isPortalSession)
  const own = sessions.filter(({ session }) => session.given_by === givenBy).slice(LIMITS.sessionsPerDeveloper - 1)
  const others = sessions.filter((key) => !own.includes(key)).slice(LIMITS.sessionsPerDeveloperAccount - 1)
  const ended: readonly AccountKey[] = [...own, ...others]
  return live.filter((key) => !ended.includes(key))
}
