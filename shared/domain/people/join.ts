import { FormerMemberEntity } from '../../entities/former-members.ts'
import {
  type Invitation,
  InvitationEntity,
  InvitationLinkEntity,
  MemberEntity,
  MembershipEntity,
  type User,
  type Workspace,
  WorkspaceEntity,
} from '../../entities/people.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/secrets.ts'
import type { Write } from '../../table/entity.ts'
import { auditPerson } from '../audit/write.ts'
import type { Deps, Work } from '../deps.ts'
import { endOfInvitation } from './invitations.ts'
import { inviterStands, invitersOf } from './inviters.ts'
import { belongingTo } from './memberships.ts'

export interface InvitationPreview {
  invitation: Invitation
  workspace: Workspace
}

/**
 * What a `join_<nonce>` start parameter invites to, to be shown before the person is asked.
 * @param nonce what stands behind `join_`
 * @returns undefined for an invitation that is unknown, used, expired or revoked, whose inviter no longer stands behind
 * it, or whose workspace is suspended
 */
export const previewInvitation = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  nonce: string,
): Promise<InvitationPreview | undefined> => {
  const { table, clock } = deps
  const link = await table.get(InvitationLinkEntity, { nonce_hash: sha256(nonce) })
  if (!link) return undefined
  const { workspace_id, invitation_id } = link
  const [invitation, workspace] = await table.getAll([
    { entity: InvitationEntity, key: InvitationEntity.key({ workspace_id, id: invitation_id }) },
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspace_id }) },
  ])
  if (!invitation || invitation.expires_at <= clock.now() || workspace?.status !== 'active') return undefined
  const [inviter] = await invitersOf(deps, [invitation])
  return inviter && { invitation, workspace }
}

/**
 * The writes that make a person a member and use the invitation up, for the caller's transaction. Of two at once exactly
 * one goes through; whatever ended the invitation since it was previewed stops it. Nothing to write for somebody who is a
 * member already: the invitation then stays for another. That the person is still there when they join, the writes of their
 * arrival see to.
 * @throws `not_found`, here or from the transaction, when the invitation is over. `ConditionFailed` from the transaction for
 * somebody whom another invitation made a member at the same moment: plan again
 */
export const joinWrites = async (
  work: Work,
  { invitation, workspace }: InvitationPreview,
  user: Pick<User, 'id' | 'name'>,
): Promise<Write[]> => {
  const at = { workspace_id: workspace.id, user_id: user.id }
  if (await work.table.get(MemberEntity, at)) return []
  const now = work.clock.now()
  if (invitation.expires_at <= now) throw over()
  const { id: invitation_id, role, created_by } = invitation
  return [
    ...endOfInvitation(invitation, { usedBy: user.id, otherwise: over }),
    MemberEntity.create({ ...at, name: user.name, role, joined_at: now }),
    MembershipEntity.replace(at),
    FormerMemberEntity.delete(at),
    WorkspaceEntity.update(
      { id: workspace.id },
      { set: { joined_at: now } },
      { where: { status: 'active' }, otherwise: over },
    ),
    ...inviterStands(invitation, over),
    auditPerson(
      work,
      { workspaceId: workspace.id, userId: user.id },
      'member.joined',
      { type: 'user', id: user.id },
      { role, invitation_id, invited_by: created_by },
    ),
  ]
}

/** The workspace that a person is in by an invitation that they used; undefined once they are no longer, and for everybody else. */
export const joinedBy = async (
  deps: Pick<Deps, 'table'>,
  nonce: string,
  userId: string,
): Promise<Workspace | undefined> => {
  const link = await deps.table.get(InvitationLinkEntity, { nonce_hash: sha256(nonce) })
  if (link?.used_by !== userId) return undefined
  return (await belongingTo(deps, link.workspace_id, userId))?.workspace
}

const over = (): PlatformError =>
  fail('not_found', {
    message: 'The invitation was used, has expired or was withdrawn.',
    fix: 'Ask for a new one.',
  })
