import { FormerMemberEntity } from '../../entities/former-members.ts'
import { type Member, MemberEntity, MembershipEntity } from '../../entities/people.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { memberLeaves } from '../messenger/leave.ts'
import { onMember } from './rank.ts'

/**
 * `DELETE /console/members/{id}`: ends a membership; one's own is leaving. Sessions and surface tokens of the person in
 * this workspace, and the invitations that they issued, are dead from then on, because each of those asks for the
 * membership. Their personal messenger account goes with them. What the person is elsewhere stays; so do their chats, for when
 * they come back.
 * @throws see {@link onMember}
 */
export const removeMember = (work: Work, by: Member, userId: string): Promise<void> => {
  const { workspace_id } = by
  return onMember(work, by, userId, undefined, async ({ target, user, checks }) =>
    work.commit([
      MemberEntity.delete(target, { where: { role: target.role } }),
      MembershipEntity.delete({ user_id: userId, workspace_id }),
      FormerMemberEntity.replace({ workspace_id, user_id: userId, left_at: work.clock.now() }),
      ...checks,
      ...(await memberLeaves(work, workspace_id, user)),
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
