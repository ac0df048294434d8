import type { User } from '../../entities/people.ts'
import type { Belonging } from './memberships.ts'
import type { ConsoleIdentityView } from './schemas.ts'

export const presentUser = ({ id, name, locale, time_zone }: User) => ({ id, name, locale, time_zone })

export const presentWorkspace = ({ workspace, member }: Belonging) => {
  const { id, name, is_sandbox, status, locale, time_zone } = workspace
  return { id, name, is_sandbox, status, role: member.role, locale, time_zone }
}

/** Who is signed in, where, and what is forbidden there. */
export const presentIdentity = (user: User, belonging: Belonging): ConsoleIdentityView => {
  const { denied_tools, denied_scopes } = belonging.workspace
  return { user: presentUser(user), workspace: presentWorkspace(belonging), bans: { denied_tools, denied_scopes } }
}
