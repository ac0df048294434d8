import { type Invitation, InvitationEntity, InvitationLinkEntity, type Role } from '../../entities/people.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { newSecret, sha256 } from '../../kernel/secrets.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'

export interface NewInvitation {
  workspaceId: string
  role: Role
  /** Id of the person or developer who invites. */
  createdBy: string
  /** Ms; default: the longest, 7 days. */
  life?: number
}

/**
 * A single-use invitation. `link` is a messaging-app start parameter, `join_<nonce>` (decisions §3): the only
 * place where the nonce exists in the clear, because the table keeps its hash.
 */
export const newInvitationWrites = (
  work: Work,
  { workspaceId, role, createdBy, life = LIMITS.invitationLife }: NewInvitation,
): { link: string; invitation: Invitation; writes: Write[] } => {
  const nonce = newSecret()
  const now = work.clock.now()
  const invitation: Invitation = {
    id: work.id('invitation'),
    nonce_hash: sha256(nonce),
    workspace_id: workspaceId,
    role,
    created_by: createdBy,
    created_at: now,
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
 * What takes an invitation out of the world, under the condition that it is still there.
 * @param usedBy id of the person who joins by it; its link remembers them
 */
export const endOfInvitation = (
  { id, workspace_id, nonce_hash }: Invitation,
  { usedBy, otherwise }: { usedBy?: string; otherwise?: () => unknown } = {},
): Write[] => [
  InvitationEntity.delete({ workspace_id, id }, { where: { nonce_hash }, otherwise }),
  usedBy === undefined
    ? InvitationLinkEntity.delete({ nonce_hash })
    : InvitationLinkEntity.update({ nonce_hash }, { set: { used_by: usedBy } }, { otherwise }),
]
