import { type Claims, issueToken, verifyToken } from '#shared/foundation/tokens/index.ts'
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
 * somebody else, the person is blocked, deleted or no longer a member of the token's workspace, or the workspace is being
 * removed.
 */
export const loadSession = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { ses, usr, ws }: Claims['console'],
): Promise<(SignedIn & { member: Member; workspace: Workspace }) | undefined> => {
  const [session, user, member, workspace] = await table.getAll([
    SessionEntity.ref({ id: ses }),
    UserEntity.ref({ id: usr }),
    MemberEntity.ref({ workspace_id: ws, user_id: usr }),
    WorkspaceEntity.ref({ id: ws }),
  ])
  const isLive =
    session?.user_id === usr &&
    session.expires_at > clock.now() &&
    user?.status === 'active' &&
    member &&
    workspace &&
    (workspace.deletes_at ?? Number.POSITIVE_INFINITY) > clock.now()
  return isLive ? { session, user, member, workspace } : undefined
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
export const endSession = async ({ table }: Pick<Deps, 'table'>, { id }: Session): Promise<void> => {
  await table.transact([SessionEntity.delete({ id })])
}
