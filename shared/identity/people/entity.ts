import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

const formerMember = () => z.object({ workspace_id: z.string(), user_id: z.string(), left_at: z.number() })

/** Returns the list of workspaces that a person has left. */
export const formerWorkspacesOf = (userId: string): string => `USR#${userId}#LEFT`

/**
 * Person who left a workspace or was removed from it. Their conversations are kept there in case they come back. If they
 * delete their account, this record leads to the workspace.
 */
export const FormerMemberEntity = defineEntity({
  name: 'former-member',
  schema: formerMember,
  pk: 'WS#{workspace_id}',
  sk: 'LEFT#{user_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'removed', app: 'kept' },
  list: ({ user_id, workspace_id }) => ({ owner: formerWorkspacesOf(user_id), sort: workspace_id }),
})

export const ROLES = ['member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** Returns true if the role is at least the needed one. */
export const atLeast = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed)

/** Returns every role that is at least the needed one. */
export const rolesFrom = (needed: Role): Role[] => ROLES.filter((role) => atLeast(role, needed))

/** Returns a sort value that orders by time, then by id. */
const timed = (at: number, id: string): string => `${String(at).padStart(13, '0')}#${id}`

const user = () =>
  z.object({
    id: z.string(),
    name: z.string(),
    /** Identity that the person signs in with, such as `telegram:42` or `local:ann`. */
    identity: z.string(),
    locale: z.string(),
    time_zone: z.string(),
    /** True if the person chose the time zone. Before, a console may set the browser's. */
    time_zone_chosen: z.boolean().optional(),
    /** `deleted` marks a tombstone without a name, which can't sign in. */
    status: z.enum(['active', 'blocked', 'deleted']),
    home_workspace_id: z.string(),
    /** On a person whom the platform makes up for a developer's sandbox: the key or teammate with which they end. */
    stand_in: z.object({ developer_id: z.string(), given_by: z.string() }).optional(),
    created_at: createdAt(),
    /** Number of workspaces joined. An account deletion has covered all workspaces only if this number is unchanged. */
    joins: z.number().optional(),
    /** Number of passkeys. */
    passkeys: z.number().optional(),
    /** Handle in the messaging app, by which colleagues write to them. */
    handle: z.string().optional(),
    /** Ends every session that was open at this time, except the one that asked for it. */
    sessions_ended: z.object({ at: z.number(), except: z.string() }).optional(),
    deleted_at: z.number().optional(),
    /** On a tombstone: the person's last workspaces, until their data there is deleted. */
    left: z.array(z.string()).optional(),
    /** Progress of that deletion: partitions to process, each with the sort key to continue after. */
    renaming: z.array(z.object({ partition: z.string(), after: z.string().optional() })).optional(),
  })

export type User = z.infer<ReturnType<typeof user>>

/** List of people who deleted their account and whose data is still to be removed, oldest deletion first. */
export const DELETED_PEOPLE = 'PEOPLE#DELETED'

/** Returns a person's place in {@link DELETED_PEOPLE}. */
export const deletedPlace = ({ id, deleted_at, left }: Pick<User, 'id' | 'deleted_at' | 'left'>) =>
  deleted_at === undefined || left === undefined ? undefined : { owner: DELETED_PEOPLE, sort: timed(deleted_at, id) }

export const UserEntity = defineEntity({
  name: 'user',
  schema: user,
  pk: 'USR#{id}',
  sk: 'USR',
  personal: { contact: ['name', 'identity', 'handle'] },
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  list: deletedPlace,
})

const identity = () => z.object({ identity: z.string(), user_id: z.string(), created_at: z.number() })

/** Maps an identity of the messaging app, such as `telegram:42`, to its person, for every way to sign in. */
export const IdentityEntity = defineEntity({
  name: 'identity',
  schema: identity,
  pk: 'IDENTITY#{identity}',
  sk: 'IDENTITY',
  personal: { contact: ['identity'] },
  retention: { workspace: 'kept', person: 'removed', app: 'kept' },
})

const workspace = () =>
  z.object({
    id: z.string(),
    name: z.string(),
    is_sandbox: z.boolean(),
    /** `deleting`: agents lose access at once, members at `deletes_at`. */
    status: z.enum(['active', 'suspended', 'deleting']),
    /** Status to restore if the deletion is canceled. */
    status_before: z.enum(['active', 'suspended']).optional(),
    /** Reason given by the admin who suspended the workspace. */
    status_reason: z.string().optional(),
    /** Time at which members lose access and the removal of data may start. */
    deletes_at: z.number().optional(),
    /** Start of the removal. Work in progress gets its time to finish from then on. */
    removal_began_at: z.number().optional(),
    /**
     * Time of the last join or promotion to owner. A member who appears to be alone, and a list of owners, are so only if
     * this time is unchanged.
     */
    joined_at: z.number().optional(),
    locale: z.string(),
    time_zone: z.string(),
    cross_agent_enabled: z.boolean(),
    denied_tools: z.array(z.string()),
    denied_scopes: z.array(z.string()),
    /** Revision of its rules for approvals; absent without any. */
    approval_rules: z.number().optional(),
    /** Hosts that people may use here, by the host name of their address. Absent: every host. */
    hosts: z.object({ enabled: z.boolean(), allowed: z.array(z.string()).optional() }).optional(),
    /** Agent that answers the main conversations. Absent if the internal orchestrator does. */
    primary_installation_id: z.string().optional(),
    /** Developer who owns this sandbox. */
    developer_id: z.string().optional(),
    created_at: createdAt(),
  })

export type Workspace = z.infer<ReturnType<typeof workspace>>

/** List of workspaces scheduled for deletion, earliest first. */
export const LEAVING_WORKSPACES = 'WORKSPACES#LEAVING'

/** Returns a workspace's place in {@link LEAVING_WORKSPACES}. */
export const leavingPlace = ({ deletes_at, id }: Pick<Workspace, 'deletes_at' | 'id'>) =>
  deletes_at === undefined ? undefined : { owner: LEAVING_WORKSPACES, sort: timed(deletes_at, id) }

export const WorkspaceEntity = defineEntity({
  name: 'workspace',
  schema: workspace,
  pk: 'WS#{id}',
  sk: 'WS',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  directory: ({ id }) => ({ list: 'workspaces', sort: id }),
  list: leavingPlace,
})

const member = () =>
  z.object({
    workspace_id: z.string(),
    user_id: z.string(),
    name: z.string(),
    role: z.enum(ROLES),
    joined_at: z.number(),
    /** In a sandbox: the key or teammate whose invitation, or whose guest's, let them in. The membership ends with it. */
    giver: z.object({ developer_id: z.string(), given_by: z.string() }).optional(),
    /** Time of their last activity, to the hour. */
    active_at: z.number().optional(),
    /** Times at which they last lost at least this role. */
    admin_until: z.number().optional(),
    owner_until: z.number().optional(),
  })

export type Member = z.infer<ReturnType<typeof member>>

export const MemberEntity = defineEntity({
  name: 'member',
  schema: member,
  pk: 'WS#{workspace_id}',
  sk: 'MEMBER#{user_id}',
  personal: { contact: ['name'] },
  retention: {
    workspace: 'removed',
    person: 'removed',
    app: 'kept',
    twins: (member) => [MembershipEntity.key(member)],
  },
})

const membership = () => z.object({ user_id: z.string(), workspace_id: z.string() })

/** Lists the workspaces of a person. Written together with the member. */
export const MembershipEntity = defineEntity({
  name: 'membership',
  schema: membership,
  pk: 'USR#{user_id}',
  sk: 'IN#{workspace_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'removed', app: 'kept' },
})

const session = () =>
  z.object({
    id: z.string(),
    user_id: z.string(),
    workspace_id: z.string(),
    /** Sign-in method. */
    via: z.enum(['provisioned', 'init_data', 'widget', 'passkey', 'stand_in']),
    /** Address that the sign-in came from. */
    source_ip: z.string().optional(),
    /** Names of the browser and the system, if known. */
    browser: z.string().optional(),
    system: z.string().optional(),
    /** On a stand-in's session: hash of the developer's key or session that opened it. It ends with that. */
    given_by: z.string().optional(),
    created_at: createdAt(),
    /** Time of the last request, to the hour. Absent in the session's first hour. */
    last_used_at: z.number().optional(),
    expires_at: z.number(),
  })

export type Session = z.infer<ReturnType<typeof session>>

/** Returns the list of a person's sessions. Ended ones stay in it until they expire. */
export const sessionsOf = (userId: string): string => `USR#${userId}#SESSIONS`

/** Console session. Signing out deletes it, so its token stops working with the next request. */
export const SessionEntity = defineEntity({
  name: 'session',
  schema: session,
  pk: 'SES#{id}',
  sk: 'SES',
  personal: { contact: ['source_ip'] },
  retention: { workspace: 'expires', person: 'expires', app: 'kept', days: 2 },
  expires: (item) => item.expires_at,
  list: ({ user_id, id }) => ({ owner: sessionsOf(user_id), sort: id }),
})

const usedSignIn = () => z.object({ hash: z.string(), expires_at: z.number() })

/** Hash of accepted sign-in data, which may open only one session. Kept longer than the data is valid. */
export const UsedSignInEntity = defineEntity({
  name: 'used-sign-in',
  schema: usedSignIn,
  pk: 'SIGNIN#{hash}',
  sk: 'SIGNIN',
  personal: 'none',
  retention: { workspace: 'expires', person: 'expires', app: 'kept', days: 2 },
  expires: (item) => item.expires_at,
})

const invitation = () =>
  z.object({
    id: z.string(),
    nonce_hash: z.string(),
    workspace_id: z.string(),
    role: z.enum(ROLES),
    created_by: z.string(),
    /** Hash of the key, or id of the teammate, by which a developer invited. The invitation ends with it. */
    given_by: z.string().optional(),
    created_at: createdAt(),
    expires_at: z.number(),
  })

export type Invitation = z.infer<ReturnType<typeof invitation>>

export const InvitationEntity = defineEntity({
  name: 'invitation',
  schema: invitation,
  pk: 'WS#{workspace_id}',
  sk: 'INVITE#{id}',
  personal: 'none',
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    twins: (invitation) => [InvitationLinkEntity.key(invitation)],
  },
  expires: (item) => item.expires_at,
})

const invitationLink = () =>
  z.object({
    nonce_hash: z.string(),
    workspace_id: z.string(),
    invitation_id: z.string(),
    /** Person who used the link. The invitation itself is deleted by then. */
    used_by: z.string().optional(),
    expires_at: z.number(),
  })

/** Maps the hash of an invitation's nonce to the invitation. */
export const InvitationLinkEntity = defineEntity({
  name: 'invitation-link',
  schema: invitationLink,
  pk: 'JOIN#{nonce_hash}',
  sk: 'JOIN',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 8 },
  expires: (item) => item.expires_at,
})
