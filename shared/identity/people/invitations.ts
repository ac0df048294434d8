import type { Work } from '#shared/foundation/work/index.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Invitation, InvitationEntity, InvitationLinkEntity, type Role } from './entity.ts'

export interface NewInvitation {
  workspaceId: string
  role: Role
  /** Id of the inviting person or developer, or the operator. */
  createdBy: string
  /** Hash of the key, or id of the teammate, by which a developer invites. */
  givenBy?: string
  /** Lifetime in ms. Default: the maximum of 7 days. */
  life?: number
}

/**
 * Creates a single-use invitation. `link` is a messaging-app start parameter, `join_<nonce>`
 * (contract/people-and-workspaces.md#members-and-invitations). Only the link has the plain nonce, because the table
 * stores its hash.
 */
export const newInvitationWrites = (
  work: Pick<Work, 'clock' | 'id'>,
  { workspaceId, role, createdBy, givenBy, life = LIMITS.invitationLife }: NewInvitation,
): { link: string; invitation: Invitation; writes: Write[] } => {
  const nonce = newSecret()
  const now = work.clock.now()
  const invitation: Invitation = {
    ...stampOf(work.id('invitation')),
    nonce_hash: sha256(nonce),
    workspace_id: workspaceId,
    role,
    created_by: createdBy,
    ...(givenBy !== undefined && { given_by: givenBy }),
    expires_at: now + life,
  }
  const { nonce_hash, workspace_id, id: invitation_id, expires_at } = invitation
  return {
    link: `join_${nonce}`,
    invitation,
    writes: [
      InvitationEntity.create(invitation),
      InvitationLinkEntity.create({ nonce_hash, workspace_id, invitation_id, expires_at }),
    ],
  }
}

/**
 * Returns the writes that end an invitation, on condition that it still exists.
 * @param usedBy id of the person who joins, stored with the link
 */
export const endInvitationWrites = (
  { id, workspace_id, nonce_hash }: Invitation,
  { usedBy, otherwise }: { usedBy?: string; otherwise?: () => unknown } = {},
): Write[] => [
  InvitationEntity.delete({ workspace_id, id }, { where: { nonce_hash }, otherwise }),
  usedBy === undefined
    ? InvitationLinkEntity.delete({ nonce_hash })
    : InvitationLinkEntity.update({ nonce_hash }, { set: { used_by: usedBy } }, { otherwise }),
]
