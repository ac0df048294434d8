import { type Invitation, InvitationEntity, type Member, type User } from '../../entities/people.ts'
import { SECOND } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { auditPerson } from '../audit/write.ts'
import type { Deps, Work } from '../deps.ts'
import { endOfInvitation, newInvitationWrites } from './invitations.ts'
import { invitersOf, neededFor } from './inviters.ts'
import { presentInvitation } from './present.ts'
import { holdsStill, refuseBelow } from './rank.ts'
import type { InvitationView, InviteInput, IssuedInvitationView } from './schemas.ts'

/**
 * `POST /console/invitations`.
 * @throws `admin_required` for a role above the inviter's own
 */
export const invite = async (
  work: Work,
  { member, user }: { member: Member; user: User },
  { role, expires_in }: InviteInput,
): Promise<IssuedInvitationView> => {
  refuseBelow(member.role, role)
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
      holdsStill(member, neededFor(role)),
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

/** Invitations that can still be used, newest first. What is over is left out, so a page may hold fewer than its limit. */
export const listInvitations = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<InvitationView>> => {
  const { items, next } = await deps.table.query(InvitationEntity, { workspace_id: workspaceId }, options)
  const lasting = items.filter((invitation) => isLasting(deps, invitation))
  const inviters = await invitersOf(deps, lasting)
  const views = lasting.flatMap((invitation, i) => {
    const inviter = inviters[i]
    return inviter ? [presentInvitation(invitation, inviter)] : []
  })
  return { items: views, next }
}

/**
 * `DELETE /console/invitations/{id}`: its link is dead from then on.
 * @throws `not_found` also for one that was used or has expired
 */
export const revokeInvitation = async (work: Work, by: Member, id: string): Promise<void> => {
  const { workspace_id } = by
  const invitation = await work.table.get(InvitationEntity, { workspace_id, id })
  if (!invitation || !isLasting(work, invitation)) throw noInvitation()
  await work.commit([
    ...endOfInvitation(invitation, { otherwise: noInvitation }),
    holdsStill(by, 'admin'),
    auditPerson(
      work,
      { workspaceId: workspace_id, userId: by.user_id },
      'invitation.revoked',
      { type: 'invitation', id },
      { role: invitation.role },
    ),
  ])
}

/** Expired records are removed late. */
const isLasting = ({ clock }: Pick<Deps, 'clock'>, { expires_at }: Invitation): boolean => expires_at > clock.now()

const noInvitation = () => fail('not_found', { message: 'There is no such invitation that can still be used.' })
