import { type Claims, issueToken, verifyToken } from '#shared/foundation/tokens/index.ts'
import { wakePagesWrites } from '#shared/foundation/updates/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import {
  type Member,
  MemberEntity,
  type Session,
  SessionEntity,
  type User,
  UserEntity,
  type Workspace,
  WorkspaceEntity,
} from './entity.ts'
import type { Belonging } from './memberships.ts'
import { presentUser, presentWorkspace } from './present.ts'
import type { ConsoleSessionView } from './schemas.ts'

/** Signed-in person with their session. */
export interface SignedIn {
  user: User
  session: Session
}

/** Creates a console session of 12 hours in one workspace, with its writes. */
export const newSessionWrites = async (
  work: Work,
  user: User,
  belonging: Belonging,
  via: Session['via'],
): Promise<{ session: Session; view: ConsoleSessionView; writes: Write[] }> => {
  const now = work.clock.now()
  const session: Session = {
    id: work.id('session'),
    user_id: user.id,
    workspace_id: belonging.workspace.id,
    via,
    created_at: now,
    expires_at: now + LIMITS.consoleSessionLife,
  }
  const { token, expires_in } = await issueToken(work, 'console', {
    ses: session.id,
    usr: user.id,
    ws: session.workspace_id,
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
  { ses, usr, ws }: Claims['console'],
): Promise<(SignedIn & { member: Member; workspace: Workspace }) | undefined> => {
  const access = await loadAccess(deps, { user_id: usr, workspace_id: ws }, [ses])
  const session = access?.sessions[0]
  return access && session && { user: access.user, member: access.member, workspace: access.workspace, session }
}

/**
 * Loads what lets a person into a workspace, and those of the sessions that are live, in one round trip. Returns
 * undefined if the person is blocked, deleted or not a member, or the workspace is being removed.
 */
export const loadAccess = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { user_id, workspace_id }: Pick<Member, 'user_id' | 'workspace_id'>,
  sessionIds: readonly string[],
): Promise<{ user: User; member: Member; workspace: Workspace; sessions: Session[] } | undefined> => {
  const [user, member, workspace, ...found] = await table.getAll([
    UserEntity.ref({ id: user_id }),
    MemberEntity.ref({ workspace_id, user_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
    ...sessionIds.map((id) => SessionEntity.ref({ id })),
  ] as const)
  const isIn =
    user?.status === 'active' && member && workspace && (workspace.deletes_at ?? Number.POSITIVE_INFINITY) > clock.now()
  if (!isIn) return undefined
  const sessions = found.filter(
    (session): session is Session => session?.user_id === user_id && session.expires_at > clock.now(),
  )
  return { user, member, workspace, sessions }
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
