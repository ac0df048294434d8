import { atLeast, type Member, MemberEntity, type Role } from '../../entities/people.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { UNTIL } from './inviters.ts'
import { presentMember } from './present.ts'
import { onMember } from './rank.ts'
import type { MemberView } from './schemas.ts'

/**
 * `PATCH /console/members/{id}`: a person's role from now on. The same role again changes nothing.
 * @throws see {@link onMember}
 */
export const changeRole = (work: Work, by: Member, userId: string, role: Role): Promise<MemberView> => {
  const { workspace_id: workspaceId } = by
  return onMember(work, by, userId, role, async ({ target, user, checks }) => {
    const view = presentMember({ ...target, role }, user)
    if (target.role === role) return view
    await work.commit(
      [
        MemberEntity.update(
          target,
          { set: { role, ...lost(work, target.role, role) } },
          { where: { role: target.role } },
        ),
        ...checks,
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

const lost = ({ clock }: Pick<Work, 'clock'>, before: Role, after: Role) =>
  Object.fromEntries(
    (['admin', 'owner'] as const)
      .filter((role) => atLeast(before, role) && !atLeast(after, role))
      .map((role) => [UNTIL[role], clock.now()]),
  )
