import { DeveloperEntity } from '../../entities/developers.ts'
import { InvitationEntity } from '../../entities/people.ts'
import { missing } from '../../table/expressions.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { endOfInvitation, newInvitationWrites } from '../people/invitations.ts'
import { tryAgain } from '../try-again.ts'
import { loadDeveloper } from './read.ts'
import type { SandboxInviteView } from './schemas.ts'

/**
 * `POST /api/v1/dev/sandbox/invite`: a new link into the developer's sandbox workspace. The one of before is dead from
 * then on; the account's record names the newest, so that of many renewals at once one link lives.
 * @throws `not_a_developer`
 */
export const renewInvite = (work: Work, developerId: string): Promise<SandboxInviteView> =>
  tryAgain(() => renew(work, developerId))

const renew = async (work: Work, developerId: string): Promise<SandboxInviteView> => {
  const { sandbox_workspace_id: workspaceId, sandbox_invitation_id: known } = await loadDeveloper(work, developerId)
  const old = known && (await work.table.get(InvitationEntity, { workspace_id: workspaceId, id: known }))
  const { link, invitation, writes } = newInvitationWrites(work, {
    workspaceId,
    role: 'owner',
    createdBy: developerId,
  })
  const view = { invite_link: link }
  await work.commit(
    [
      ...(old ? endOfInvitation(old) : []),
      ...writes,
      DeveloperEntity.update(
        { id: developerId },
        { set: { sandbox_invitation_id: invitation.id } },
        { where: { sandbox_invitation_id: known ?? missing } },
      ),
      auditDeveloper(work, developerId, 'sandbox.invite_renewed', { type: 'invitation', id: invitation.id }),
    ],
    view,
  )
  return view
}
