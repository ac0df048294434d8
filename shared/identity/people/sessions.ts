import { type Claims, issueToken, verifyToken } from '#shared/foundation/tokens/index.ts'
import { wakePagesWrites } from '#shared/foundation/updates/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { HOUR } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed, type Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { isActive, isStillGiven, loadGiver, opensSandbox } from './active.ts'
import { deviceOf } from './device.ts'
import {
  type Member,
  MemberEntity,
  type Session,
  SessionEntity,
  sessionsOf,
  type User,
  UserEntity,
  type Workspace,
  WorkspaceEntity,
} from './entity.ts'
import { type Belonging, isMembership } from './memberships.ts'
import { presentUser, presentWorkspace } from './present.ts'
import type { ConsoleSessionView } from './schemas.ts'

/** Signed-in person with their session. */
export interface SignedIn {
  user: User
  session: Session
}

/**
 * Creates a console session of 12 hours in one workspace, with its writes.
 * @param givenBy hash of the developer's credential with which a stand-in's session ends
 */
export const newSessionWrites = async (
  work: Work,
  user: User,
  belonging: Belonging,
  via: Session['via'],
  givenBy?: string,
): Promise<{ session: Session; view: ConsoleSessionView; writes: Write[] }> => {
  const now = work.clock.now()
  const session: Session = {
    ...stampOf(work.id('session')),
    user_id: user.id,
    workspace_id: belonging.workspace.id,
    via,
    ...deviceOf(work.userAgent),
    source_ip: work.sourceIp,
    ...(givenBy !== undefined && { given_by: givenBy }),
    expires_at: now + LIMITS.consoleSessionLife,
  }
  const { token, expires_in } = await issueToken(work, 'console', {
    ses: session.id,
    usr: user.id,
    ws: session.workspace_id,
    mem: belonging.member.joined_at,
  })
  return {
    session,
    view: {
      token,
      token_type: 'Bearer',
      expires_in,
      user: presentUser(user),
      workspace: presentWorkspace(belonging),
    },
    writes: [SessionEntity.create(session)],
  }
}

/**
 * Loads the session of a console token in one round trip. Returns undefined if the session ended, expired or belongs to
 * somebody else, or the person has no access to the token's workspace (see {@link loadAccess}).
 */
export const loadSession = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { ses, usr, ws, mem }: Claims['console'],
): Promise<(SignedIn & { member: Member; workspace: Workspace }) | undefined> => {
  const opened = { session_id: ses, member_since: mem }
  const access = await loadAccess(deps, { user_id: usr, workspace_id: ws }, [opened])
  const session = access?.sessions[0]
  return access && session && { user: access.user, member: access.member, workspace: access.workspace, session }
}

/** A session, and the membership in which it was opened or switched to the workspace. */
interface OpenedIn {
  session_id: string
  member_since: number
}

/**
 * Loads what lets a person into a workspace, and those of the sessions that are live in this membership, in one round
 * trip. Returns undefined if the person is blocked, deleted or not a member, or the workspace is being removed.
 */
export const loadAccess = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { user_id, workspace_id }: Pick<Member, 'user_id' | 'workspace_id'>,
  opened: readonly OpenedIn[],
): Promise<{ user: User; member: Member; workspace: Workspace; sessions: Session[] } | undefined> => {
  const [user, member, workspace, ...found] = await table.getAll([
    UserEntity.ref({ id: user_id }),
    MemberEntity.ref({ workspace_id, user_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
    ...opened.map(({ session_id }) => SessionEntity.ref({ id: session_id })),
  ] as const)
  const isIn = user && member && workspace && (workspace.deletes_at ?? Number.POSITIVE_INFINITY) > clock.now()
  const giver = await loadGiver({ table }, user)
  if (!isIn || !isActive(user, giver, clock.now()) || !(await isStillGiven({ table, clock }, member))) return undefined
  const sessions = found.filter(
    (session, i): session is Session =>
      session?.user_id === user_id &&
      isMembership(member, opened[i]?.member_since) &&
      (session.given_by === undefined || opensSandbox(giver, session.given_by, clock.now())) &&
      session.expires_at > clock.now() &&
      !isEnded(user, session),
  )
  return { user, member, workspace, sessions }
}

/** Returns true for a session that the person ended together with all others. */
const isEnded = ({ sessions_ended }: User, { id, created_at }: Session): boolean =>
  sessions_ended !== undefined && sessions_ended.except !== id && created_at <= sessions_ended.at

/**
 * Records that a session was used, at most once an hour, and that its person was active. It must not fail the request.
 * Requests that meet record it once.
 */
export const recordUse = async (
  { table, clock, log }: Pick<Deps, 'table' | 'clock' | 'log'>,
  { session, member }: { session: Session; member: Member },
): Promise<void> => {
  const now = clock.now()
  const isRecent = (at: number): boolean => now - at < HOUR
  if (isRecent(session.last_used_at ?? session.created_at)) return
  try {
    await table.transact([
      SessionEntity.update(
        session,
        { set: { last_used_at: now } },
        { where: { last_used_at: session.last_used_at ?? missing } },
      ),
      ...(isRecent(member.active_at ?? 0) ? [] : [MemberEntity.update(member, { set: { active_at: now } })]),
    ])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) log.warn('the use of a session was not recorded', { error: String(error) })
  }
}

/** Sessions that are listed. */
const MAX_LISTED = 100

/** Lists a person's live sessions, newest first, the current one always among them. */
export const listSessions = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { user, session }: SignedIn,
): Promise<Session[]> => {
  const { items } = await deps.table.listed(SessionEntity, sessionsOf(user.id), { limit: MAX_LISTED })
  const live = items.filter((one) => one.expires_at > deps.clock.now() && !isEnded(user, one))
  // The list shows the newest ones, and a new one only after a moment.
  return live.some(({ id }) => id === session.id) ? live : [session, ...live]
}

/** Ends one of the person's sessions. @throws `not_found`, also for another person's */
export const endSessionById = async (
  work: Work,
  { user, workspace_id }: { user: User; workspace_id: string },
  id: string,
) => {
  const woken = await wakePagesWrites(work, { workspace_id, user_id: user.id })
  await work.commit([SessionEntity.delete({ id }, { where: { user_id: user.id }, otherwise: noSession }), ...woken])
}

const noSession = () => fail('not_found', { message: 'Session not found, or it has already ended.' })

/** Ends every session of the person except the one that asks, from the next request on. */
export const endOtherSessions = async (work: Work, { user, session }: SignedIn): Promise<void> => {
  const woken = await wakePagesWrites(work, session)
  await work.commit([
    UserEntity.update(
      { id: user.id },
      { set: { sessions_ended: { at: work.clock.now(), except: session.id } } },
      { where: { status: 'active' } },
    ),
    ...woken,
  ])
}

/**
 * Returns true if a stored response with a token may be replayed under its Idempotency-Key. Once its token is rejected,
 * the request must run again, to return a working token or an error.
 * @param kept the response. An error has no token and may always be replayed.
 * @param within the session that the token must belong to, since a person may send the same key from several sessions
 */
export const isSessionLive = async (
  deps: Pick<Deps, 'table' | 'clock' | 'settings' | 'keys'>,
  kept: { body: string },
  within?: Session,
): Promise<boolean> => {
  const { token } = JSON.parse(kept.body) as { token?: string }
  if (token === undefined) return true
  const verified = await verifyToken(deps, token, ['console'])
  if (verified?.kind !== 'console' || (within && within.id !== verified.claims.ses)) return false
  return (await loadSession(deps, verified.claims)) !== undefined
}

/** Signs out. The session's token stops working with the next request. */
export const endSession = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { id, workspace_id, user_id }: Session,
): Promise<void> => {
  const woken = await wakePagesWrites(deps, { workspace_id, user_id })
  await deps.table.transact([SessionEntity.delete({ id }), ...woken])
}
