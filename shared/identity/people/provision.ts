import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { derivedId, isId, stampOf } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import {
  FormerMemberEntity,
  type Member,
  MemberEntity,
  MembershipEntity,
  type User,
  UserEntity,
  WorkspaceEntity,
} from './entity.ts'
import type { ConsoleSessionView, ProvisionInput } from './schemas.ts'
import { newSessionWrites } from './sessions.ts'
import { newWorkspaceWrites } from './workspaces.ts'

/**
 * Signs a caller in as any person (`POST /console/session`) and creates person, workspace and membership as needed.
 * Requires `CONSOLE_AUTO_PROVISION`, which works only with a loopback store. Ids derive from the given texts, so
 * concurrent calls create one of each.
 * @throws `console_provisioning_disabled`, `not_found` for an unknown workspace id
 */
export const provisionSession = async (work: Work, input: ProvisionInput): Promise<ConsoleSessionView> => {
  if (!work.settings.consoleAutoProvision) throw fail('console_provisioning_disabled')
  return retryOnConflict(() => provision(work, input))
}

const provision = async (work: Work, input: ProvisionInput): Promise<ConsoleSessionView> => {
  const name = input.user ?? 'local-user'
  const userId = await localPerson(work, name)
  const place = input.workspace ?? `${name}’s workspace`
  const isWorkspaceId = isId('workspace', place)
  const workspaceId = isWorkspaceId ? place : derivedId('workspace', 0, `local:${place}`)
  const [knownUser, knownWorkspace, knownMember] = await work.table.getAll([
    UserEntity.ref({ id: userId }),
    WorkspaceEntity.ref({ id: workspaceId }),
    MemberEntity.ref({ workspace_id: workspaceId, user_id: userId }),
  ])
  if (isWorkspaceId && !knownWorkspace) throw fail('not_found', { message: `No workspace has the id ${place}.` })

  const writes: Write[] = []
  const user = knownUser ?? newUser(work, userId, name, workspaceId)
  if (!knownUser) writes.push(UserEntity.create(user))
  else if (!knownMember) {
    writes.push(UserEntity.update(user, { add: { joins: 1 } }, { where: { status: user.status } }))
  }
  let workspace = knownWorkspace
  if (!workspace) {
    const created = newWorkspaceWrites(work, { id: workspaceId, name: place })
    workspace = created.workspace
    writes.push(...created.writes)
  }
  const member = memberOf(work, user, workspaceId, knownMember, input.role)
  if (!knownMember) {
    writes.push(
      MemberEntity.create(member),
      MembershipEntity.create({ user_id: userId, workspace_id: workspaceId }),
      FormerMemberEntity.delete({ user_id: userId, workspace_id: workspaceId }),
    )
  } else {
    writes.push(MemberEntity.update(member, { set: { role: member.role, active_at: work.clock.now() } }))
  }
  const session = await newSessionWrites(work, user, { workspace, member }, 'provisioned')
  await work.commit([...writes, ...session.writes], session.view)
  return session.view
}

/** Returns the id of the person with a given text. Skips people who deleted their account. */
const localPerson = async ({ table }: Pick<Work, 'table'>, name: string): Promise<string> => {
  for (let n = 0; ; n++) {
    const id = derivedId('user', 0, n === 0 ? `local:${name}` : `local:${name}#${n}`)
    if ((await table.get(UserEntity, { id }))?.status !== 'deleted') return id
  }
}

const newUser = (work: Work, id: string, name: string, home: string): User => ({
  ...stampOf(id, work.clock.now()),
  name,
  identity: `local:${name}`,
  locale: 'en',
  time_zone: 'UTC',
  status: 'active',
  home_workspace_id: home,
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
  active_at: work.clock.now(),
})
