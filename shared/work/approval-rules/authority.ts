import type { Deps } from '#shared/foundation/work/index.ts'
import { type Member, MemberEntity, UserEntity } from '#shared/identity/people/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { listAway } from './away.ts'
import { type Away, AwayEntity } from './entity.ts'
import { isApprover } from './match.ts'
import type { ApprovalRule } from './schemas.ts'

/** Why a person may approve: in their own name, or in that of somebody who is away. */
export interface Authority {
  /** Person whose right it is. */
  of: Member
  away?: Away
}

export interface ApproversOf {
  workspaceId: string
  rule: ApprovalRule
  /** Person who started the run. */
  requesterId: string | undefined
}

/**
 * Finds why a person may approve a call.
 * @param taken people whose right is used for this call already
 * @returns undefined if they may not
 */
export const findAuthority = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { workspaceId: workspace_id, rule, requesterId }: ApproversOf,
  userId: string,
  taken: readonly string[] = [],
): Promise<Authority | undefined> => {
  if (!rule.requester_may_approve && userId === requesterId) return undefined
  const mayLend = (member: Member): boolean =>
    isApprover(rule, { id: member.user_id, role: member.role }) && !taken.includes(member.user_id)
  const own = await deps.table.get(MemberEntity, { workspace_id, user_id: userId })
  if (!own) return undefined
  if (mayLend(own)) return { of: own }
  const lent = (await listAway(deps, workspace_id)).filter(({ delegate_id }) => delegate_id === userId)
  const lenders = await deps.table.getAll(lent.map(({ user_id }) => MemberEntity.ref({ workspace_id, user_id })))
  return lent.flatMap((away, i): Authority[] => {
    const of = lenders[i]
    const isRequester = !rule.requester_may_approve && away.user_id === requesterId
    return of && mayLend(of) && !isRequester ? [{ of, away }] : []
  })[0]
}

/** Returns a test of which members may approve, in their own name or in somebody's place, for asking only those. */
export const approversAmong = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { workspaceId: workspace_id, rule, requesterId }: ApproversOf,
): Promise<(member: Member) => boolean> => {
  const away = await listAway(deps, workspace_id)
  const lenders = await deps.table.getAll(away.map(({ user_id }) => MemberEntity.ref({ workspace_id, user_id })))
  const mayLend = ({ user_id, role }: Member): boolean =>
    isApprover(rule, { id: user_id, role }) && (rule.requester_may_approve || user_id !== requesterId)
  const delegates = new Set(
    away.flatMap(({ delegate_id }, i) => (lenders[i] && mayLend(lenders[i]) ? [delegate_id] : [])),
  )
  return (member) =>
    (mayLend(member) || delegates.has(member.user_id)) && (rule.requester_may_approve || member.user_id !== requesterId)
}

/** Writes that refuse an approval if its authority has ended or changed in the meantime. */
export const authorityChecks = (workspaceId: string, userId: string, { of, away }: Authority): Write[] => [
  MemberEntity.check({ workspace_id: workspaceId, user_id: of.user_id }, { where: { role: of.role } }),
  ...(away
    ? [
        MemberEntity.check({ workspace_id: workspaceId, user_id: userId }, { where: {} }),
        AwayEntity.check(away, { where: { delegate_id: userId, until: away.until } }),
      ]
    : []),
]

/** Describes in words who may approve under a rule. */
export const describeApprovers = async ({ table }: Pick<Deps, 'table'>, rule: ApprovalRule): Promise<string> => {
  const { role, user_ids } = rule.approvers
  const users = await table.getAll(user_ids.slice(0, 5).map((id) => UserEntity.ref({ id })))
  const ofRole = { member: 'any member', admin: 'an admin or owner', owner: 'an owner' } as const
  const more = user_ids.length - users.length
  const all = [
    ...(role === null ? [] : [ofRole[role]]),
    ...users.map((user) => user?.name ?? 'a former member'),
    ...(more > 0 ? [`${more} more`] : []),
  ]
  return all.length > 1 ? `${all.slice(0, -1).join(', ')} or ${all.at(-1)}` : (all[0] ?? '')
}
