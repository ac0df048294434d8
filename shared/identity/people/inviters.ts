import type { Deps } from '#shared/foundation/work/index.ts'
import { isId } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, lt, lte, missing, oneOf } from '#shared/table/expressions.ts'
import { DeveloperEntity } from '../developers/entity.ts'
import type { Giver } from '../developers/rights.ts'
import { isActive, isStillGiven, opensSandbox } from './active.ts'
import { atLeast, type Invitation, type Member, MemberEntity, type Role, rolesFrom, UserEntity } from './entity.ts'

/** Returns the role that an inviter must keep for the invitation to stay valid: admin, and at least the invited role. */
export const inviterRoleFor = (role: Role): 'admin' | 'owner' => (role === 'owner' ? 'owner' : 'admin')

/** Author of the operator's invitations. */
export const OPERATOR = 'operator'

/** Returns true for the operator's invitation of an owner, which replaces every other owner. */
export const isRecovery = ({ created_by }: Invitation): boolean => created_by === OPERATOR

/** Returns true for an invitation by a developer, who isn't a member of their sandbox workspace. */
const byDeveloper = ({ created_by }: Invitation): boolean => isId('developer', created_by)

const member = ({ workspace_id, created_by }: Invitation) => ({ workspace_id, user_id: created_by })

/** Fields with the time at which a member last lost a role. Older invitations stay invalid even if they regain it. */
export const LOST_ROLE_FIELDS = { admin: 'admin_until', owner: 'owner_until' } as const

const mayInvite = (by: Member | undefined, { role, created_at }: Invitation): boolean => {
  const needed = inviterRoleFor(role)
  return (
    by !== undefined &&
    atLeast(by.role, needed) &&
    by.joined_at <= created_at &&
    (by[LOST_ROLE_FIELDS[needed]] ?? -1) < created_at
  )
}

/**
 * Finds the inviter of each invitation. Returns undefined for an invitation that is invalid because the inviter lost the
 * role, left or was blocked, or the developer's key or teammate that gave it is gone (contract/people-and-workspaces.md#members-and-invitations).
 */
export const findInviters = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  invitations: readonly Invitation[],
): Promise<({ id: string; name: string } | undefined)[]> => {
  const { table, clock } = deps
  const [members, users] = await Promise.all([
    table.getAll(invitations.map((invitation) => MemberEntity.ref(member(invitation)))),
    table.getAll(invitations.map(({ created_by }) => UserEntity.ref({ id: created_by }))),
  ])
  const givers = await table.getAll(
    users.map((user, i) =>
      DeveloperEntity.ref({ id: user?.stand_in?.developer_id ?? invitations[i]?.created_by ?? '' }),
    ),
  )
  const stillGiven = await Promise.all(members.map((one) => one !== undefined && isStillGiven(deps, one)))
  return invitations.map((invitation, i) => {
    if (isRecovery(invitation)) return { id: OPERATOR, name: 'The platform’s operator' }
    const { given_by = '' } = invitation
    const [developer, user] = [givers[i], users[i]]
    if (byDeveloper(invitation)) {
      return developer && opensSandbox(developer, given_by, clock.now())
        ? { id: developer.id, name: developer.name }
        : undefined
    }
    const isEntitled = stillGiven[i] && mayInvite(members[i], invitation) && isActive(user, developer, clock.now())
    return isEntitled ? { id: user.id, name: user.name } : undefined
  })
}

/**
 * Returns the conditions of a transaction under which the inviter may still invite. Those of the developer account that
 * gave the inviter their rights, if any, are {@link giverChecks}.
 */
export const inviterChecks = (invitation: Invitation, otherwise: () => unknown): Write[] => {
  if (isRecovery(invitation)) return []
  if (byDeveloper(invitation)) return []
  const { role, created_at } = invitation
  const needed = inviterRoleFor(role)
  const since = { joined_at: lte(created_at), [LOST_ROLE_FIELDS[needed]]: either(missing, lt(created_at)) }
  return [
    MemberEntity.check(member(invitation), { where: { role: oneOf(...rolesFrom(needed)), ...since }, otherwise }),
    UserEntity.check({ id: invitation.created_by }, { where: { status: 'active' }, otherwise }),
  ]
}

/**
 * Returns the condition that nothing has changed which decides whether a credential of a developer account still opens its
 * sandbox. Read it again if it fails: most changes have no bearing on it.
 */
export const giverChecks = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { developer_id, given_by }: Giver,
  ended: () => unknown,
): Promise<Write[]> => {
  const developer = await table.get(DeveloperEntity, { id: developer_id })
  if (!developer || !opensSandbox(developer, given_by, clock.now())) throw ended()
  const { id, status, key_hash, keys, members } = developer
  return [DeveloperEntity.check({ id }, { where: { status, key_hash, keys, members } })]
}
