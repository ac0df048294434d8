import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type Invitation, InvitationEntity, type Member, type User } from './entity.ts'
import { endInvitationWrites, newInvitationWrites } from './invitations.ts'
import { findInviters, inviterRoleFor, isRecovery } from './inviters.ts'
import { presentInvitation } from './present.ts'
import { requireRole, roleCheck } from './rank.ts'
import type { InvitationView, InviteInput, IssuedInvitationView } from './schemas.ts'

/**
 * Creates an invitation to the workspace (`POST /console/invitations`).
 * @throws `admin_required` for a role above the inviter's own
 */
export const invite = async (
  work: Work,
  { member, user }: { member: Member; user: User },
  { role, expires_in }: InviteInput,
): Promise<IssuedInvitationView> => {
  requireRole(member.role, role)
  const { workspace_id: workspaceId } = member
  const { link, invitation, writes } = newInvitationWrites(work, {
    workspaceId,
    role,
    createdBy: user.id,
    life: expires_in * SECOND,
  })
  const view = { ...presentInvitation(invitation, { id: user.id, name: user.name }), start_parameter: link }
  await work.commit(
    [
      ...writes,
      roleCheck(member, inviterRoleFor(role)),
      auditPerson(
        work,
        { workspaceId, userId: user.id },
        'invitation.created',
        { type: 'invitation', id: invitation.id },
        { role, expires_at: invitation.expires_at },
      ),
    ],
    view,
  )
  return view
}

/** Lists valid invitations of members, newest first. Skips invalid ones, so a page may hold fewer than its limit. */
export const listInvitations = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<InvitationView>> => {
  const { items, next } = await deps.table.query(InvitationEntity, { workspace_id: workspaceId }, options)
  const unexpired = items.filter((invitation) => isUnexpired(deps, invitation) && !isRecovery(invitation))
  const inviters = await findInviters(deps, unexpired)
  const views = unexpired.flatMap((invitation, i) => {
    const inviter = inviters[i]
    return inviter ? [presentInvitation(invitation, inviter)] : []
  })
  return { items: views, next }
}

/**
 * Revokes an invitation, so that its link stops working (`DELETE /console/invitations/{id}`).
 * @throws `not_found` for an invitation that is unknown, used or expired
 */
export const revokeInvitation = async (work: Work, by: Member, id: string): Promise<void> => {
  const { workspace_id } = by
  const invitation = await work.table.get(InvitationEntity, { workspace_id, id })
  if (!invitation || !isUnexpired(work, invitation) || isRecovery(invitation)) throw noInvitation()
  await work.commit([
    ...endInvitationWrites(invitation, { otherwise: noInvitation }),
    roleCheck(by, 'admin'),
    auditPerson(
      work,
      { workspaceId: workspace_id, userId: by.user_id },
      'invitation.revoked',
      { type: 'invitation', id },
      { role: invitation.role },
    ),
  ])
}

/** Returns true before the expiry. The store deletes expired records late. */
const isUnexpired = ({ clock }: Pick<Deps, 'clock'>, { expires_at }: Invitation): boolean => expires_at > clock.now()

const noInvitation = () => fail('not_found', { message: 'This invitation does not exist, was used or has expired.' })
