import type { Deps, Work } from '#shared/foundation/work/index.ts'
import {
  findMember,
  isMembership,
  isStillGiven,
  type Member,
  MemberEntity,
  type User,
  UserEntity,
} from '#shared/identity/people/index.ts'
import { DAY, iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { type Away, AwayEntity } from './entity.ts'

const LONGEST = 90 * DAY

/** Most members who are away at once that are looked at. */
const MOST = 500

/** A member who is away, and the delegation that is in effect. */
interface Lent {
  away: Away
  of: Member
}

/** Lists members who are away at this time, while they and their delegates are in the same membership as at its start. */
export const listAway = async (deps: Pick<Deps, 'table' | 'clock'>, workspace_id: string): Promise<Lent[]> => {
  const { table, clock } = deps
  const { items } = await table.query(AwayEntity, { workspace_id }, { limit: MOST, consistent: true })
  const open = items.filter(({ until }) => until > clock.now())
  const ids = [...new Set(open.flatMap(({ user_id, delegate_id }) => [user_id, delegate_id]))]
  const members = await table.getAll(ids.map((user_id) => MemberEntity.ref({ workspace_id, user_id })))
  const given = await Promise.all(members.map((member) => member !== undefined && isStillGiven(deps, member)))
  const memberWith = (id: string) => (given[ids.indexOf(id)] ? members[ids.indexOf(id)] : undefined)
  return open.flatMap((away): Lent[] => {
    const of = memberWith(away.user_id)
    const isLive =
      isMembership(of, away.member_since) && isMembership(memberWith(away.delegate_id), away.delegate_since)
    return isLive ? [{ away, of }] : []
  })
}

const present = async (work: Work, user_id: string, all: readonly Away[]) => {
  const ids = [...new Set(all.flatMap((away) => [away.user_id, away.delegate_id]))]
  const users = await work.table.getAll(ids.map((id) => UserEntity.ref({ id })))
  const named = (id: string) => ({ id, name: users[ids.indexOf(id)]?.name ?? 'Deleted user' })
  const own = all.find((away) => away.user_id === user_id)
  return {
    away: own ? { delegate: named(own.delegate_id), until: iso(own.until) } : null,
    for: all
      .filter(({ delegate_id }) => delegate_id === user_id)
      .map((away) => ({ person: named(away.user_id), until: iso(away.until) })),
  }
}

export const readAway = async (work: Work, workspace_id: string, { id }: User) => {
  const all = (await listAway(work, workspace_id)).map(({ away }) => away)
  return present(
    work,
    id,
    all.filter(({ user_id, delegate_id }) => user_id === id || delegate_id === id),
  )
}

const refuse = (field: string, problem: string) =>
  fail('validation_error', { message: `${field} ${problem}.`, details: { fields: { [field]: [problem] } } })

/**
 * Lets another member approve in a person's place until a time. A delegate can't pass that on.
 * @throws `validation_error` for a delegate who isn't another member, or a time in the past or too far away
 */
export const setAway = async (
  work: Work,
  { workspace_id, joined_at: member_since }: Member,
  user: User,
  { delegate_id, until: end }: { delegate_id: string; until: string },
) => {
  const [now, until] = [work.clock.now(), Date.parse(end)]
  if (until <= now || until > now + LONGEST) throw refuse('until', 'must be within the next 90 days')
  const delegate = await findMember(work, workspace_id, delegate_id)
  if (!delegate || delegate_id === user.id) throw refuse('delegate_id', 'must be another member of this workspace')
  const away: Away = {
    workspace_id,
    user_id: user.id,
    member_since,
    delegate_id,
    delegate_since: delegate.joined_at,
    until,
    created_at: now,
  }
  const others = (await listAway(work, workspace_id))
    .map((lent) => lent.away)
    .filter((one) => one.delegate_id === user.id)
  const view = await present(work, user.id, [away, ...others])
  await work.commit(
    [
      AwayEntity.replace(away),
      auditPerson(
        work,
        { workspaceId: workspace_id, userId: user.id },
        'member.away',
        { type: 'user', id: user.id },
        { delegate_id, until: iso(until) },
      ),
    ],
    view,
  )
  return view
}

/** Ends a person's absence. Nothing happens if they are here. */
export const endAway = async (work: Work, workspace_id: string, user: User): Promise<void> => {
  const away = await work.table.get(AwayEntity, { workspace_id, user_id: user.id })
  if (!away) return
  await work.commit([
    AwayEntity.delete(away),
    auditPerson(work, { workspaceId: workspace_id, userId: user.id }, 'member.back', { type: 'user', id: user.id }, {}),
  ])
}
