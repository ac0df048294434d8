import { MemberEntity, SessionEntity, UserEntity } from '../../entities/people.ts'
import { SECOND } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Work } from '../deps.ts'
import { issueToken } from '../tokens/tokens.ts'
import { belongingTo } from './memberships.ts'
import { presentUser, presentWorkspace } from './present.ts'
import type { ConsoleSessionView } from './schemas.ts'
import type { SignedIn } from './sessions.ts'

/**
 * `POST /console/session/workspace`: the session goes on in another workspace of the person, which the next sign-in then
 * starts in. A token names its workspace, so there is a new one; the old one works on where it was issued for (another tab
 * may have it) until the session ends, and signing out ends both.
 *
 * A suspended workspace may be entered: the answer's `status` says so, and what acts in it is refused there.
 * @throws `not_found` for a workspace that the person is not in; `unauthorized` when the session ended meanwhile
 */
export const switchWorkspace = async (
  work: Work,
  { session, user }: SignedIn,
  workspaceId: string,
): Promise<ConsoleSessionView> => {
  const belonging = isId('workspace', workspaceId) ? await belongingTo(work, workspaceId, user.id) : undefined
  if (!belonging) throw notIn()
  const { token } = await issueToken(work, 'console', { ses: session.id, usr: user.id, ws: workspaceId })
  const view: ConsoleSessionView = {
    token,
    token_type: 'Bearer',
    // The session's own end, which the new token does not put off.
    expires_in: Math.floor((session.expires_at - work.clock.now()) / SECOND),
    user: presentUser(user),
    workspace: presentWorkspace(belonging),
  }
  await work.commit(
    [
      SessionEntity.update({ id: session.id }, { set: { workspace_id: workspaceId } }, { otherwise: ended }),
      UserEntity.update({ id: user.id }, { set: { home_workspace_id: workspaceId } }, { otherwise: ended }),
      MemberEntity.check({ workspace_id: workspaceId, user_id: user.id }, { otherwise: notIn }),
    ],
    view,
  )
  return view
}

const notIn = () => fail('not_found', { message: 'You are in no such workspace.' })
const ended = () => fail('unauthorized', { message: 'The session has ended.', fix: 'Sign in again.' })
