import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { derivedId, stampOf } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Giver } from '../developers/rights.ts'
import {
  FormerMemberEntity,
  type Member,
  MemberEntity,
  MembershipEntity,
  type User,
  UserEntity,
  WorkspaceEntity,
} from './entity.ts'
import type { ConsoleSessionView } from './schemas.ts'
import { newSessionWrites } from './sessions.ts'

/** A person whom the platform makes up, so that a developer can act in their sandbox. */
interface StandIn {
  /** Text that the person's id derives from. */
  identity: string
  /** Key or teammate with which the person ends. */
  standIn: Giver
  /** Hash of the key or session with which this sign-in ends. */
  openedWith: string
  name: string
  workspaceId: string
  role: Member['role']
}

/**
 * Signs a made-up person in to a sandbox, and creates them and their membership as needed. Nobody else can sign in as
 * them, because no sign-in method has their identity.
 * @throws `not_found` for any other workspace, `forbidden` if an admin banned the person
 */
export const standInSession = async (
  work: Work,
  { identity, standIn, openedWith, name, workspaceId, role }: StandIn,
  more: Write[],
): Promise<ConsoleSessionView> => {
  const userId = derivedId('user', 0, identity)
  const [knownUser, workspace, knownMember] = await work.table.getAll([
    UserEntity.ref({ id: userId }),
    WorkspaceEntity.ref({ id: workspaceId }),
    MemberEntity.ref({ workspace_id: workspaceId, user_id: userId }),
  ])
  if (!workspace?.is_sandbox) throw fail('not_found', { message: 'The sandbox workspace no longer exists.' })
  if (knownUser && knownUser.status !== 'active') throw fail('forbidden', { message: 'This person can’t sign in.' })
  const now = work.clock.now()
  const user: User = knownUser ?? {
    ...stampOf(userId, now),
    name,
    identity,
    locale: 'en',
    time_zone: 'UTC',
    status: 'active',
    home_workspace_id: workspaceId,
    stand_in: standIn,
  }
  const member: Member = knownMember ?? {
    workspace_id: workspaceId,
    user_id: userId,
    name: user.name,
    role,
    joined_at: now,
  }
  const session = await newSessionWrites(work, user, { workspace, member }, 'stand_in', openedWith)
  await work.commit(
    [
      ...(knownUser ? [] : [UserEntity.create(user)]),
      ...(knownUser && !knownMember
        ? [UserEntity.update(user, { add: { joins: 1 } }, { where: { status: user.status } })]
        : []),
      ...(knownMember
        ? []
        : [
            MemberEntity.create(member),
            MembershipEntity.create({ user_id: userId, workspace_id: workspaceId }),
            FormerMemberEntity.delete({ user_id: userId, workspace_id: workspaceId }),
          ]),
      ...more,
      ...session.writes,
    ],
    session.view,
  )
  return session.view
}
