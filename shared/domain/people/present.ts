import type { Invitation, Member, User } from '../../entities/people.ts'
import { iso } from '../../kernel/clock.ts'
import type { Belonging } from './memberships.ts'
import type { ConsoleIdentityView, InvitationView, MemberView } from './schemas.ts'

export const presentUser = ({ id, name, locale, time_zone }: User) => ({ id, name, locale, time_zone })

export const presentWorkspace = ({ workspace, member }: Belonging) => {
  const { id, name, is_sandbox, status, deletes_at, locale, time_zone } = workspace
  return {
    id,
    name,
    is_sandbox,
    status,
    deletes_at: deletes_at === undefined ? null : iso(deletes_at),
    role: member.role,
    locale,
    time_zone,
  }
}

/** Who is signed in, where, what is forbidden there, and where else they could go. */
export const presentIdentity = (
  user: User,
  belonging: Belonging,
  belongings: readonly Belonging[],
): ConsoleIdentityView => {
  const { denied_tools, denied_scopes, cross_agent_enabled } = belonging.workspace
  return {
    user: presentUser(user),
    workspace: presentWorkspace(belonging),
    workspaces: belongings.map(({ workspace: { id, name, is_sandbox }, member }) => ({
      id,
      name,
      is_sandbox,
      role: member.role,
    })),
    bans: { denied_tools, denied_scopes },
    cross_agent_enabled,
  }
}

/** @param user undefined for a person who is gone: their name in the workspace is what is left */
export const presentMember = (member: Member, user: User | undefined): MemberView => ({
  id: member.user_id,
  name: user?.name ?? member.name,
  role: member.role,
  joined_at: iso(member.joined_at),
})

/** An invitation as admins see it; its nonce is known to nobody any more. */
export const presentInvitation = (invitation: Invitation, inviter: { id: string; name: string }): InvitationView => ({
  id: invitation.id,
  role: invitation.role,
  created_by: inviter,
  created_at: iso(invitation.created_at),
  expires_at: iso(invitation.expires_at),
})
