import type { Deps } from '#shared/foundation/work/index.ts'
import {
  findMember,
  isMembership,
  type Member,
  MemberEntity,
  membershipCheck,
  UserEntity,
} from '#shared/identity/people/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { listAway } from './away.ts'
import { type Away, AwayEntity } from './entity.ts'
import { isApprover, type NamedSince } from './match.ts'
import type { ApprovalRule } from './schemas.ts'

/** Why a person may approve: in their own name, or in that of somebody who is away. */
export interface Authority {
  by: Member
  /** Person whose right it is. */
  of: Member
  away?: Away
}

export interface ApproversOf {
  workspaceId: string
  rule: ApprovalRule
  /** Memberships of the people whom the rules name. */
  named: NamedSince
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
  { workspaceId: workspace_id, rule, named, requesterId }: ApproversOf,
  userId: string,
  taken: readonly string[] = [],
): Promise<Authority | undefined> => {
  if (!rule.requester_may_approve && userId === requesterId) return undefined
  const mayLend = (member: Member): boolean => isApprover(rule, member, named) && !taken.includes(member.user_id)
  const by = await findMember(deps, workspace_id, userId)
  if (!by) return undefined
  if (mayLend(by)) return { by, of: by }
  const lent = (await listAway(deps, workspace_id)).find(
    ({ away, of }) =>
      away.delegate_id === userId && mayLend(of) && (rule.requester_may_approve || of.user_id !== requesterId),
  )
  return lent && { by, of: lent.of, away: lent.away }
}

/** Returns a test of which members may approve, in their own name or in somebody's place, for asking only those. */
export const approversAmong = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { workspaceId: workspace_id, rule, named, requesterId }: ApproversOf,
): Promise<(member: Member) => boolean> => {
  const isRequester = ({ user_id }: Member): boolean => !rule.requester_may_approve && user_id === requesterId
  const mayLend = (member: Member): boolean => isApprover(rule, member, named) && !isRequester(member)
  const lent = (await listAway(deps, workspace_id)).filter(({ of }) => mayLend(of))
  const delegates = new Set(lent.map(({ away }) => away.delegate_id))
  return (member) => mayLend(member) || (delegates.has(member.user_id) && !isRequester(member))
}

/** Writes that refuse an approval if its authority has ended or changed in the meantime. */
export const authorityChecks = ({ by, of, away }: Authority): Write[] => [
  membershipCheck(of),
  ...(away
    ? [membershipCheck(by), AwayEntity.check(away, { where: { delegate_id: by.user_id, until: away.until } })]
    : []),
]

/** Describes in words who may approve under a rule. */
export const describeApprovers = async (
  { table }: Pick<Deps, 'table'>,
  { workspaceId: workspace_id, rule, named }: Pick<ApproversOf, 'workspaceId' | 'rule' | 'named'>,
): Promise<string> => {
  const { role, user_ids } = rule.approvers
  const shown = user_ids.slice(0, 5)
  const [users, members] = await Promise.all([
    table.getAll(shown.map((id) => UserEntity.ref({ id }))),
    table.getAll(shown.map((user_id) => MemberEntity.ref({ workspace_id, user_id }))),
  ])
  const ofRole = { member: 'any member', admin: 'an admin or owner', owner: 'an owner' } as const
  const more = user_ids.length - shown.length
  const all = [
    ...(role === null ? [] : [ofRole[role]]),
    ...shown.map((id, i) => (isMembership(members[i], named[id]) && users[i]?.name) || 'a former member'),
    ...(more > 0 ? [`${more} more`] : []),
  ]
  return all.length > 1 ? `${all.slice(0, -1).join(', ')} or ${all.at(-1)}` : (all[0] ?? '')
}
