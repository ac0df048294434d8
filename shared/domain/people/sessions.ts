import { type Session, SessionEntity, type User } from '../../entities/people.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps, Work } from '../deps.ts'
import { issueToken } from '../tokens/tokens.ts'
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

/** Signs out: the session's token is refused from the next request on. */
export const endSession = async ({ table }: Pick<Deps, 'table'>, { id }: Session): Promise<void> => {
  await table.transact([SessionEntity.delete({ id })])
}
