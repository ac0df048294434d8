import {
  type Member,
  MemberEntity,
  type Session,
  SessionEntity,
  type User,
  UserEntity,
  type Workspace,
  WorkspaceEntity,
} from '../../entities/people.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps, Work } from '../deps.ts'
import { type Claims, issueToken, verifyToken } from '../tokens/tokens.ts'
import type { Belonging } from './memberships.ts'
import { presentUser, presentWorkspace } from './present.ts'
import type { ConsoleSessionView } from './schemas.ts'

/** A person and the session that they act in. */
export interface SignedIn {
  user: User
  session: Session
}

/** A new console session of 12 hours in one workspace, and the write that makes it. */
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
 * What a console token stands for by now, in one round trip; undefined once its session was ended or ran out, the person
 * is blocked or gone, or is no longer in the token's workspace, or that is being removed.
 */
export const liveSession = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { ses, usr, ws }: Claims['console'],
): Promise<(SignedIn & { member: Member; workspace: Workspace }) | undefined> => {
  const [session, user, member, workspace] = await table.getAll([
    { entity: SessionEntity, key: SessionEntity.key({ id: ses }) },
    { entity: UserEntity, key: UserEntity.key({ id: usr }) },
    { entity: MemberEntity, key: MemberEntity.key({ workspace_id: ws, user_id: usr }) },
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: ws }) },
  ])
  const live =
    session &&
    session.expires_at > clock.now() &&
    user?.status === 'active' &&
    member &&
    workspace &&
    (workspace.deletes_at ?? Number.POSITIVE_INFINITY) > clock.now()
  return live ? { session, user, member, workspace } : undefined
}

/**
 * May an answer with a token, kept under an Idempotency-Key, be given again? Not once the token is refused anyway: whoever
 * sends the request again is then to get one that works, or to hear why not.
 * @param kept the answer; an error has no token, and stays what it was
 * @param within the session that the token has to be of: one person may have several, and send the same key from each
 */
export const sessionStillLives = async (
  deps: Pick<Deps, 'table' | 'clock' | 'settings' | 'keys'>,
  kept: { body: string },
  within?: Session,
): Promise<boolean> => {
  const { token } = JSON.parse(kept.body) as { token?: string }
  if (token === undefined) return true
  const verified = await verifyToken(deps, token, ['console'])
  if (verified?.kind !== 'console' || (within && within.id !== verified.claims.ses)) return false
  return (await liveSession(deps, verified.claims)) !== undefined
}

/** Signs out: the session's token is refused from the next request on. */
export const endSession = async ({ table }: Pick<Deps, 'table'>, { id }: Session): Promise<void> => {
  await table.transact([SessionEntity.delete({ id })])
}
