import type { Work } from '#shared/foundation/work/index.ts'
import { DAY, iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditAdmin, auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { eachPage } from '#shared/table/pages.ts'
import { type Invitation, InvitationEntity, type Member, MemberEntity, WorkspaceEntity } from './entity.ts'
import { newInvitationWrites } from './invitations.ts'
import { LOST_ROLE_FIELDS, OPERATOR } from './inviters.ts'

/** Lifetime of the operator's invitation. */
const LIFE = DAY

/** Most owners that one transaction demotes. It may write 100 records. */
export const MOST_OWNERS = 80

const PAGE = 100

type RecoveryWork = Pick<Work, 'table' | 'clock' | 'requestId' | 'sourceIp' | 'id' | 'commit'>

/**
 * Creates the operator's invitation of a new owner, for a workspace whose owners are lost or hostile
 * (contract/people-and-workspaces.md#lost-messenger-account). Accepting it demotes every owner. No member sees it or can
 * revoke it, and a scheduled deletion doesn't stop it.
 * @throws `not_found`; `conflict` for a sandbox or a suspended workspace
 */
export const inviteNewOwner = async (work: RecoveryWork, workspaceId: string) => {
  const workspace = await work.table.get(WorkspaceEntity, { id: workspaceId })
  if (!workspace) throw fail('not_found', { message: `There is no workspace ${workspaceId}.` })
  if (workspace.is_sandbox) {
    throw fail('conflict', { message: 'This is a developer’s sandbox. Its developer invites people to it.' })
  }
  if (workspace.status === 'suspended') {
    throw fail('conflict', { message: 'This workspace is suspended, so nobody can join it. End the suspension first.' })
  }
  const { link, invitation, writes } = newInvitationWrites(work, {
    workspaceId,
    role: 'owner',
    createdBy: OPERATOR,
    life: LIFE,
  })
  const owners = await listOwners(work, workspaceId)
  await work.commit([
    ...writes,
    auditAdmin(
      work,
      'operator',
      'workspace.recovery_created',
      { type: 'workspace', id: workspaceId },
      { invitation_id: invitation.id, owners: owners.map(({ user_id }) => user_id) },
    ),
  ])
  return { start_parameter: link, expires_at: iso(invitation.expires_at), owners }
}

/**
 * Returns the writes that make members of all other owners, for the transaction in which the operator's invitation is
 * accepted. Their earlier invitations are invalid. Owners beyond what a transaction can write are demoted before, in steps
 * that hold only while the invitation does. If the work ends in between, accepting again continues it.
 */
export const demoteOwners = async (
  work: RecoveryWork,
  invitation: Invitation,
  newOwnerId: string,
): Promise<Write[]> => {
  const { workspace_id } = invitation
  const owners = (await listOwners(work, workspace_id)).filter(({ user_id }) => user_id !== newOwnerId)
  while (owners.length > MOST_OWNERS) {
    const step = owners.splice(0, MOST_OWNERS)
    const { nonce_hash } = invitation
    await work.table.transact([
      InvitationEntity.check(invitation, { where: { nonce_hash } }),
      ...demotionWrites(work, invitation, newOwnerId, step),
    ])
  }
  return demotionWrites(work, invitation, newOwnerId, owners)
}

const demotionWrites = (
  work: RecoveryWork,
  { workspace_id, id: invitation_id }: Invitation,
  newOwnerId: string,
  demoted: readonly Member[],
): Write[] => {
  const now = work.clock.now()
  return [
    ...demoted.map((owner) =>
      MemberEntity.update(
        owner,
        { set: { role: 'member', [LOST_ROLE_FIELDS.admin]: now, [LOST_ROLE_FIELDS.owner]: now } },
        { where: { role: 'owner' } },
      ),
    ),
    auditEntry(work, {
      scope: workspace_id,
      action: 'workspace.recovered',
      actor: { type: 'system', id: OPERATOR },
      target: { type: 'user', id: newOwnerId },
      details: { invitation_id, demoted: demoted.map(({ user_id }) => user_id) },
    }),
  ]
}

const listOwners = async ({ table }: Pick<Work, 'table'>, workspace_id: string): Promise<Member[]> => {
  const owners: Member[] = []
  for await (const members of eachPage((after) =>
    table.query(MemberEntity, { workspace_id }, { limit: PAGE, after, ascending: true }),
  )) {
    owners.push(...members.filter(({ role }) => role === 'owner'))
  }
  return owners
}
