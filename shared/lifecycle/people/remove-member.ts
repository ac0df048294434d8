import { wakePagesWrites } from '#shared/foundation/updates/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import {
  changeMembership,
  FormerMemberEntity,
  type Member,
  MemberEntity,
  MembershipEntity,
} from '#shared/identity/people/index.ts'
import { memberLeavesWrites } from '#shared/messaging/messenger/index.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { AwayEntity } from '#shared/work/approval-rules/index.ts'

/**
 * Handles `DELETE /console/members/{id}`: ends a membership, or leaves the workspace. Sessions and
 * surface tokens of the person in this workspace, and the invitations they issued, stop working, because each of those
 * reads the membership. Their personal messenger account is removed too. Their other workspaces aren't affected, and
 * their conversations stay in case they return.
 * @throws see {@link changeMembership}
 */
export const removeMember = (work: Work, by: Member, userId: string): Promise<void> => {
  const { workspace_id } = by
  return changeMembership(work, by, userId, undefined, async ({ target, user, checks }) =>
    work.commit([
      MemberEntity.delete(target, { where: { role: target.role } }),
      MembershipEntity.delete({ user_id: userId, workspace_id }),
      AwayEntity.delete({ workspace_id, user_id: userId }),
      FormerMemberEntity.replace({ workspace_id, user_id: userId, left_at: work.clock.now() }),
      ...checks,
      ...(await wakePagesWrites(work, { workspace_id, user_id: userId })),
      ...(await memberLeavesWrites(work, workspace_id, user)),
      auditPerson(
        work,
        { workspaceId: workspace_id, userId: by.user_id },
        'member.removed',
        { type: 'user', id: userId },
        { role: target.role, left: userId === by.user_id },
      ),
    ]),
  )
}
