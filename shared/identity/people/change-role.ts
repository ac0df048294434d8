import type { Work } from '#shared/foundation/work/index.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { atLeast, type Member, MemberEntity, type Role, WorkspaceEntity } from './entity.ts'
import { LOST_ROLE_FIELDS } from './inviters.ts'
import { presentConsoleMember } from './present.ts'
import { changeMembership } from './rank.ts'
import type { ConsoleMemberView } from './schemas.ts'

/**
 * Changes a member's role (`PATCH /console/members/{id}`). Setting the same role changes nothing.
 * @throws see {@link changeMembership}
 */
export const changeRole = (work: Work, by: Member, userId: string, role: Role): Promise<ConsoleMemberView> => {
  const { workspace_id: workspaceId } = by
  return changeMembership(work, by, userId, role, async ({ target, user, checks }) => {
    const view = presentConsoleMember({ ...target, role }, user)
    if (target.role === role) return view
    await work.commit(
      [
        MemberEntity.update(
          target,
          { set: { role, ...lostRoleTimes(work, target.role, role) } },
          { where: { role: target.role } },
        ),
        ...checks,
        ...(role === 'owner'
          ? [WorkspaceEntity.update({ id: workspaceId }, { set: { joined_at: work.clock.now() } })]
          : []),
        auditPerson(
          work,
          { workspaceId, userId: by.user_id },
          'member.role_changed',
          { type: 'user', id: userId },
          { before: { role: target.role }, after: { role } },
        ),
      ],
      view,
    )
    return view
  })
}

const lostRoleTimes = ({ clock }: Pick<Work, 'clock'>, before: Role, after: Role) =>
  Object.fromEntries(
    (['admin', 'owner'] as const)
      .filter((role) => atLeast(before, role) && !atLeast(after, role))
      .map((role) => [LOST_ROLE_FIELDS[role], clock.now()]),
  )
