import { iso } from '#shared/kernel/clock.ts'
import type { Invitation, Member, Session, User } from './entity.ts'
import type { Belonging } from './memberships.ts'
import type { ConsoleIdentityView, ConsoleMemberView, InvitationView, MemberView, SessionView } from './schemas.ts'

export const presentUser = ({ id, name, locale, time_zone, time_zone_chosen }: User) => ({
  id,
  name,
  locale,
  time_zone,
  time_zone_chosen: time_zone_chosen ?? time_zone !== 'UTC',
})

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

/** Returns the signed-in person, their current workspace with its bans, and their other workspaces. */
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
    is_stand_in: user.stand_in !== undefined,
  }
}

/** Returns a member. @param user undefined for a deleted person, whose name in the workspace is used instead */
export const presentMember = (member: Member, user: User | undefined): MemberView => ({
  id: member.user_id,
  name: user?.name ?? member.name,
  role: member.role,
  joined_at: iso(member.joined_at),
})

/** Returns a member as their colleagues see them in the console. @param user as in {@link presentMember} */
export const presentConsoleMember = (member: Member, user: User | undefined): ConsoleMemberView => ({
  ...presentMember(member, user),
  last_active_at: member.active_at === undefined ? null : iso(member.active_at),
  contact: user?.handle === undefined ? null : `https://t.me/${user.handle}`,
})

/** Returns a session as its person sees it. */
export const presentSession = (session: Session, current: Session): SessionView => ({
  id: session.id,
  current: session.id === current.id,
  via: session.via,
  browser: session.browser ?? null,
  system: session.system ?? null,
  address: session.source_ip ?? null,
  created_at: iso(session.created_at),
  last_used_at: iso(session.last_used_at ?? session.created_at),
  expires_at: iso(session.expires_at),
})

/** Returns an invitation as admins see it. The plain nonce can't be recovered. */
export const presentInvitation = (invitation: Invitation, inviter: { id: string; name: string }): InvitationView => ({
  id: invitation.id,
  role: invitation.role,
  created_by: inviter,
  created_at: iso(invitation.created_at),
  expires_at: iso(invitation.expires_at),
})
