import { issueToken } from '#shared/foundation/tokens/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { MemberEntity, SessionEntity, UserEntity } from './entity.ts'
import { findBelonging } from './memberships.ts'
import { presentUser, presentWorkspace } from './present.ts'
import type { ConsoleSessionView } from './schemas.ts'
import type { SignedIn } from './sessions.ts'

/**
 * Switches the session to another workspace of the person (`POST /console/session/workspace`). The next sign-in starts in
 * that workspace. A token names its workspace, so this issues a new one. The old token keeps working in its workspace,
 * because another tab may use it. Signing out ends both.
 *
 * People may switch to a suspended workspace. The response shows its `status`, and actions in it are refused.
 * @throws `not_found` if the person isn't a member of the workspace, `unauthorized` if the session has ended
 */
export const switchWorkspace = async (
  work: Work,
  { session, user }: SignedIn,
  workspaceId: string,
): Promise<ConsoleSessionView> => {
  const belonging = isId('workspace', workspaceId) ? await findBelonging(work, workspaceId, user.id) : undefined
  if (!belonging) throw notAMember()
  const { joined_at } = belonging.member
  const { token } = await issueToken(work, 'console', {
    ses: session.id,
    usr: user.id,
    ws: workspaceId,
    mem: joined_at,
  })
  const view: ConsoleSessionView = {
    token,
    token_type: 'Bearer',
    // The new token doesn't extend the session.
    expires_in: Math.floor((session.expires_at - work.clock.now()) / SECOND),
    user: presentUser(user),
    workspace: presentWorkspace(belonging),
  }
  await work.commit(
    [
      SessionEntity.update({ id: session.id }, { set: { workspace_id: workspaceId } }, { otherwise: ended }),
      UserEntity.update({ id: user.id }, { set: { home_workspace_id: workspaceId } }, { otherwise: ended }),
      MemberEntity.check(
        { workspace_id: workspaceId, user_id: user.id },
        { where: { joined_at }, otherwise: notAMember },
      ),
    ],
    view,
  )
  return view
}

const notAMember = () => fail('not_found', { message: 'You are not a member of this workspace.' })

const ended = () => fail('unauthorized', { message: 'The session has ended.', fix: 'Sign in again.' })
