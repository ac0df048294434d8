import type { Work } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import {
  type Developer,
  DeveloperEntity,
  DeveloperKeyEntity,
  isPortalSession,
  type PortalSession,
} from '../developers/entity.ts'
import { memberById } from '../developers/member-list.ts'
import { type Giver, liveKeys, rightsOf } from '../developers/rights.ts'
import type { DeveloperRole } from '../developers/roles.ts'
import { unchangedKeys } from './keys.ts'
import { loadDeveloper } from './read.ts'
import type { ListedSessionView } from './schemas.ts'

/** Caller who looks at sessions: an owner sees those of the account, others those of their own key or sign-in. */
interface Viewer {
  role: DeveloperRole
  credential: Giver
  root: Giver
}

const visibleTo = ({ role, root }: Viewer, developer: Developer, now: number): PortalSession[] =>
  liveKeys(developer, now)
    .filter(isPortalSession)
    .filter(({ session }) => role === 'owner' || session.given_by === root.given_by)

/** Lists the live sessions of the portal that the caller may end, newest first (`GET /api/v1/dev/sessions`). */
export const listDeveloperSessions = async (work: Work, viewer: Viewer): Promise<ListedSessionView[]> => {
  const developer = await loadDeveloper(work, viewer.credential.developer_id)
  const now = work.clock.now()
  const sessions = visibleTo(viewer, developer, now)
  const records = await work.table.getAll(sessions.map(({ key_hash }) => DeveloperKeyEntity.ref({ key_hash })))
  return sessions.map(({ id, key_hash, created_at, expires_at, session }, i) => {
    const { given_by, via, browser, system, source_ip } = session
    const member = memberById(developer, given_by)
    const key = developer.keys.find((one) => one.key_hash === given_by)
    return {
      id,
      current: key_hash === viewer.credential.given_by,
      via,
      member: member ? { id: member.id, email: member.email, name: member.name ?? null } : null,
      key: key && !isPortalSession(key) ? { id: key.id, name: key.name } : null,
      role: rightsOf(developer, key_hash, now)?.role ?? 'viewer',
      browser: browser ?? null,
      system: system ?? null,
      address: source_ip ?? null,
      created_at: iso(created_at),
      last_used_at: iso(records[i]?.last_used_at ?? created_at),
      expires_at: iso(expires_at),
    }
  })
}

/**
 * Ends a session of the portal, from its next request on, with what it opened (`DELETE /api/v1/dev/sessions/{id}`).
 * @throws `not_found`, also for a session that the caller may not end
 */
export const endListedSession = (work: Work, viewer: Viewer, id: string): Promise<void> =>
  endSessions(work, viewer, (sessions) => {
    const found = sessions.filter((one) => one.id === id)
    if (found.length === 0) throw fail('not_found', { message: 'Session not found, or it has already ended.' })
    return found
  })

/** Ends every session that the caller may end, except the one that asks (`DELETE /api/v1/dev/sessions`). */
export const endOtherDeveloperSessions = (work: Work, viewer: Viewer): Promise<void> =>
  endSessions(work, viewer, (sessions) => sessions.filter(({ key_hash }) => key_hash !== viewer.credential.given_by))

const endSessions = (
  work: Work,
  viewer: Viewer,
  choose: (sessions: readonly PortalSession[]) => PortalSession[],
): Promise<void> =>
  retryOnConflict(async () => {
    const { developer_id: id } = viewer.credential
    const developer = await loadDeveloper(work, id)
    const ended = choose(visibleTo(viewer, developer, work.clock.now()))
    if (ended.length === 0) return
    const hashes = ended.map(({ key_hash }) => key_hash)
    await work.commit([
      DeveloperEntity.update(
        { id },
        { set: { keys: developer.keys.filter(({ key_hash }) => !hashes.includes(key_hash)) } },
        { where: unchangedKeys(developer) },
      ),
      ...hashes.map((key_hash) => DeveloperKeyEntity.delete({ key_hash })),
      auditDeveloper(
        work,
        id,
        'developer.sessions_ended',
        { type: 'developer', id },
        { session_ids: ended.map((one) => one.id) },
      ),
    ])
  })
