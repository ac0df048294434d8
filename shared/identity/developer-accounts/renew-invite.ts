import type { Work } from '#shared/foundation/work/index.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { DeveloperEntity } from '../developers/entity.ts'
import type { Giver } from '../developers/rights.ts'
import { InvitationEntity } from '../people/entity.ts'
import { endInvitationWrites, newInvitationWrites } from '../people/invitations.ts'
import { loadDeveloper } from './read.ts'
import type { SandboxInviteView } from './schemas.ts'

/**
 * Creates a new link to the developer's sandbox workspace (`POST /api/v1/dev/sandbox/invite`). The previous link stops
 * working. The account's record names the newest link, so only one link survives concurrent renewals.
 * @throws `not_a_developer`
 */
export const renewInvite = (work: Work, giver: Giver): Promise<SandboxInviteView> =>
  retryOnConflict(() => renew(work, giver))

const renew = async (work: Work, { developer_id: developerId, given_by }: Giver): Promise<SandboxInviteView> => {
  const { sandbox_workspace_id: workspaceId, sandbox_invitation_id: known } = await loadDeveloper(work, developerId)
  const old = known && (await work.table.get(InvitationEntity, { workspace_id: workspaceId, id: known }))
  const { link, invitation, writes } = newInvitationWrites(work, {
    workspaceId,
    role: 'owner',
    createdBy: developerId,
    givenBy: given_by,
  })
  const view = { invite_link: link }
  await work.commit(
    [
      ...(old ? endInvitationWrites(old) : []),
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
