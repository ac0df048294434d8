import { FormerMemberEntity } from '../../entities/former-members.ts'
import {
  type Member,
  MemberEntity,
  MembershipEntity,
  type User,
  UserEntity,
  WorkspaceEntity,
} from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { derivedId, isId } from '../../kernel/ids.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import type { ConsoleSessionView, ProvisionInput } from './schemas.ts'
import { newSessionWrites } from './sessions.ts'
import { newWorkspaceWrites } from './workspaces.ts'

/**
 * `POST /console/session`: signs anybody in as anybody, making person, workspace and membership as needed. Only where
 * `CONSOLE_AUTO_PROVISION` is on, which the settings allow beside a loopback store only. Ids derive from the texts given,
 * so calls at the same time make one of each.
 * @throws `console_provisioning_disabled`; `not_found` for a workspace id that does not exist
 */
export const provisionSession = async (work: Work, input: ProvisionInput): Promise<ConsoleSessionView> => {
  if (!work.settings.consoleAutoProvision) throw fail('console_provisioning_disabled')
  return tryAgain(() => provision(work, input))
}

const provision = async (work: Work, input: ProvisionInput): Promise<ConsoleSessionView> => {
  const name = input.user ?? 'local-user'
  const userId = await localPerson(work, name)
  const place = input.workspace ?? `${name}’s workspace`
  const existing = isId('workspace', place)
  const workspaceId = existing ? place : derivedId('workspace', 0, `local:${place}`)
  const [knownUser, knownWorkspace, knownMember] = await work.table.getAll([
    { entity: UserEntity, key: UserEntity.key({ id: userId }) },
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspaceId }) },
    { entity: MemberEntity, key: MemberEntity.key({ workspace_id: workspaceId, user_id: userId }) },
  ])
  if (existing && !knownWorkspace) throw fail('not_found', { message: 'There is no such workspace.' })

  const writes: Write[] = []
  const user = knownUser ?? newUser(work, userId, name, workspaceId)
  if (!knownUser) writes.push(UserEntity.create(user))
  else if (!knownMember) {
    writes.push(UserEntity.update(user, { add: { joins: 1 } }, { where: { status: user.status } }))
  }
  let workspace = knownWorkspace
  if (!workspace) {
    const made = newWorkspaceWrites(work, { id: workspaceId, name: place })
    workspace = made.workspace
    writes.push(...made.writes)
  }
  const member = memberOf(work, user, workspaceId, knownMember, input.role)
  if (!knownMember) {
    writes.push(
      MemberEntity.create(member),
      MembershipEntity.create({ user_id: userId, workspace_id: workspaceId }),
      FormerMemberEntity.delete({ user_id: userId, workspace_id: workspaceId }),
    )
  } else if (knownMember.role !== member.role) {
    writes.push(MemberEntity.update(member, { set: { role: member.role } }))
  }
  const session = await newSessionWrites(work, user, { workspace, member }, 'provisioned')
  await work.commit([...writes, ...session.writes], session.view)
  return session.view
}

/** The person whom a text stands for. After one who deleted their account it is somebody new. */
const localPerson = async ({ table }: Pick<Work, 'table'>, name: string): Promise<string> => {
  for (let n = 0; ; n++) {
    const id = derivedId('user', 0, n === 0 ? `local:${name}` : `local:${name}#${n}`)
    if ((await table.get(UserEntity, { id }))?.status !== 'deleted') return id
  }
}

const newUser = (work: Work, id: string, name: string, home: string): User => ({
  id,
  name,
  identity: `local:${name}`,
  locale: 'en',
  time_zone: 'UTC',
  status: 'active',
  home_workspace_id: home,
  created_at: work.clock.now(),
})

const memberOf = (
  work: Work,
  user: User,
  workspaceId: string,
  known: Member | undefined,
  role: Member['role'] | undefined,
): Member => ({
  workspace_id: workspaceId,
  user_id: user.id,
  name: user.name,
  role: role ?? known?.role ?? 'owner',
  joined_at: known?.joined_at ?? work.clock.now(),
})
