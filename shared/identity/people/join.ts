import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing, oneOf } from '#shared/table/expressions.ts'
import { isStillGiven } from './active.ts'
import {
  FormerMemberEntity,
  type Invitation,
  InvitationEntity,
  InvitationLinkEntity,
  type Member,
  MemberEntity,
  MembershipEntity,
  type User,
  UserEntity,
  type Workspace,
  WorkspaceEntity,
} from './entity.ts'
import { endInvitationWrites } from './invitations.ts'
import { findInviters, giverChecks, inviterChecks, isRecovery } from './inviters.ts'
import { findBelonging } from './memberships.ts'
import { demoteOwners } from './recover.ts'

export interface InvitationPreview {
  invitation: Invitation
  workspace: Workspace
}

/**
 * Loads the invitation of a `join_<nonce>` start parameter, to show it before the person decides.
 * @param nonce the part after `join_`
 * @returns undefined for an invitation that is unknown, used, expired or revoked, whose inviter may no longer invite, or
 * whose workspace isn't active. The operator's invitation also works while a deletion is scheduled.
 */
export const loadInvitation = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  nonce: string,
): Promise<InvitationPreview | undefined> => {
  const { table, clock } = deps
  const link = await table.get(InvitationLinkEntity, { nonce_hash: sha256(nonce) })
  if (!link) return undefined
  const { workspace_id, invitation_id } = link
  const [invitation, workspace] = await table.getAll([
    InvitationEntity.ref({ workspace_id, id: invitation_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
  ])
  if (!invitation || invitation.expires_at <= clock.now()) return undefined
  if (!workspace || !openStatuses(invitation).includes(workspace.status)) return undefined
  if ((workspace.deletes_at ?? Number.POSITIVE_INFINITY) <= clock.now()) return undefined
  const [inviter] = await findInviters(deps, [invitation])
  return inviter && { invitation, workspace }
}

/**
 * Returns the writes that make a person a member and use up the invitation, for the caller's transaction. Of two
 * concurrent uses exactly one succeeds, and none after the invitation has ended. Returns no writes for an existing member,
 * so the invitation stays valid for another person. The operator's invitation makes an owner of an existing member, too, and
 * members of the other owners. The writes of {@link Arrival} check that the person still exists.
 * @throws `not_found`, here or from the transaction, if the invitation has ended. `ConditionFailed` from the transaction
 * if another invitation made the person a member, somebody became an owner during a recovery, or the developer account
 * that gave the invitation changed. Load the invitation and retry in that case.
 */
export const joinWrites = async (
  work: Work,
  { invitation, workspace }: InvitationPreview,
  user: Pick<User, 'id' | 'name'>,
): Promise<Write[]> => {
  const at = { workspace_id: workspace.id, user_id: user.id }
  const present = await work.table.get(MemberEntity, at)
  const recovery = isRecovery(invitation)
  const isIn = present !== undefined && (await isStillGiven(work, present))
  if (isIn && !recovery) return []
  const now = work.clock.now()
  if (invitation.expires_at <= now) throw invitationEnded()
  const { id: invitation_id, role, created_by } = invitation
  const giver = await giverOf(work, invitation)
  return [
    ...endInvitationWrites(invitation, { usedBy: user.id, otherwise: invitationEnded }),
    isIn
      ? MemberEntity.update(at, { set: { role, giver } }, { where: { role: present.role } })
      : MemberEntity.replace(
          { ...at, name: user.name, role, joined_at: now, ...(giver && { giver }) },
          { where: { joined_at: present?.joined_at ?? missing } },
        ),
    ...(recovery ? await demoteOwners(work, invitation, user.id) : []),
    MembershipEntity.replace(at),
    FormerMemberEntity.delete(at),
    WorkspaceEntity.update(
      { id: workspace.id },
      { set: { joined_at: now } },
      // Nobody becomes an owner between the read of a recovery's owners and their demotion: it is tried again instead.
      recovery
        ? { where: { status: workspace.status, joined_at: workspace.joined_at ?? missing } }
        : { where: { status: oneOf(...openStatuses(invitation)) }, otherwise: invitationEnded },
    ),
    ...inviterChecks(invitation, invitationEnded),
    ...(giver ? await giverChecks(work, giver, invitationEnded) : []),
    auditPerson(
      work,
      { workspaceId: workspace.id, userId: user.id },
      'member.joined',
      { type: 'user', id: user.id },
      { role, invitation_id, invited_by: created_by },
    ),
  ]
}

/** Returns the key or teammate with which the membership ends: the one that invited, or let the inviter in. */
const giverOf = async ({ table }: Work, invitation: Invitation): Promise<Member['giver']> => {
  const { workspace_id, created_by, given_by = '' } = invitation
  if (isId('developer', created_by)) return { developer_id: created_by, given_by }
  const [member, user] = await table.getAll([
    MemberEntity.ref({ workspace_id, user_id: created_by }),
    UserEntity.ref({ id: created_by }),
  ] as const)
  return user?.stand_in ?? member?.giver
}

/** Finds the workspace that a person joined with an invitation. Returns undefined if they left it, and for anyone else. */
export const findJoinedWorkspace = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  nonce: string,
  userId: string,
): Promise<Workspace | undefined> => {
  const link = await deps.table.get(InvitationLinkEntity, { nonce_hash: sha256(nonce) })
  if (link?.used_by !== userId) return undefined
  return (await findBelonging(deps, link.workspace_id, userId))?.workspace
}

/** Statuses of a workspace in which the invitation works. An owner who schedules a deletion doesn't escape a recovery. */
const openStatuses = (invitation: Invitation): Workspace['status'][] =>
  isRecovery(invitation) ? ['active', 'deleting'] : ['active']

const invitationEnded = (): PlatformError =>
  fail('not_found', {
    message: 'The invitation was used, expired or revoked.',
    fix: 'Ask for a new invitation.',
  })
