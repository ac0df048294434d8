import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

export const ROLES = ['member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** True when the role is at least the needed one. */
export const atLeast = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed)

/** Every role that is at least the needed one. */
export const rolesFrom = (needed: Role): Role[] => ROLES.filter((role) => atLeast(role, needed))

/** Sorts by a time, then by an id. */
const timed = (at: number, id: string): string => `${String(at).padStart(13, '0')}#${id}`

const user = () =>
  z.object({
    id: z.string(),
    name: z.string(),
    /** Where the person comes from, such as `telegram:42` or `local:ann`. */
    identity: z.string(),
    locale: z.string(),
    time_zone: z.string(),
    /** `deleted`: a tombstone, which nobody signs in as and which has no name any more. */
    status: z.enum(['active', 'blocked', 'deleted']),
    home_workspace_id: z.string(),
    created_at: z.number(),
    /** How often they joined a workspace: who deletes their account has left all that they are in only if it is the same still. */
    joins: z.number().optional(),
    deleted_at: z.number().optional(),
    /** Of a tombstone: the workspaces that the person was in last, until what is theirs there is gone. */
    left: z.array(z.string()).optional(),
    /** How far that has come: partitions to look through, each with the sort key after which to go on. */
    renaming: z.array(z.object({ partition: z.string(), after: z.string().optional() })).optional(),
  })

export type User = z.infer<ReturnType<typeof user>>

/** Where people are found who deleted their account and whose traces are to be removed, those first who did so first. */
export const DELETED_PEOPLE = 'PEOPLE#DELETED'

/** A person's place there. */
export const deletedPlace = ({ id, deleted_at, left }: Pick<User, 'id' | 'deleted_at' | 'left'>) =>
  deleted_at === undefined || left === undefined ? undefined : { owner: DELETED_PEOPLE, sort: timed(deleted_at, id) }

export const UserEntity = defineEntity<User>()({
  name: 'user',
  schema: user,
  pk: 'USR#{id}',
  sk: 'USR',
  list: deletedPlace,
})

const identity = () => z.object({ identity: z.string(), user_id: z.string(), created_at: z.number() })

/** An identity of the messaging app, such as `telegram:42` → whose it is. However they sign in, they are that person. */
export const IdentityEntity = defineEntity<z.infer<ReturnType<typeof identity>>>()({
  name: 'identity',
  schema: identity,
  pk: 'IDENTITY#{identity}',
  sk: 'IDENTITY',
})

const workspace = () =>
  z.object({
    id: z.string(),
    name: z.string(),
    is_sandbox: z.boolean(),
    /** `deleting`: gone for integrations at once, and for everybody at `deletes_at`. */
    status: z.enum(['active', 'suspended', 'deleting']),
    /** What it was before it was to be deleted, to go back to. */
    status_before: z.enum(['active', 'suspended']).optional(),
    /** Why the platform’s staff suspended it. */
    status_reason: z.string().optional(),
    /** From then on nobody gets in any more, and its data is removed. */
    deletes_at: z.number().optional(),
    /** When it began to be removed, after that: what is under way in it has time from then on. */
    removal_began_at: z.number().optional(),
    /** When somebody last joined: who finds themselves alone in it, is so only if nobody did meanwhile. */
    joined_at: z.number().optional(),
    locale: z.string(),
    time_zone: z.string(),
    cross_agent_enabled: z.boolean(),
    denied_tools: z.array(z.string()),
    denied_scopes: z.array(z.string()),
    /** The agent that answers the main chats; absent for the internal orchestrator. */
    primary_installation_id: z.string().optional(),
    /** The developer whose sandbox this is. */
    developer_id: z.string().optional(),
    created_at: z.number(),
  })

export type Workspace = z.infer<ReturnType<typeof workspace>>

/** Where workspaces are found that are to be deleted, the earliest first. */
export const LEAVING_WORKSPACES = 'WORKSPACES#LEAVING'

/** A workspace's place there. */
export const leavingPlace = ({ deletes_at, id }: Pick<Workspace, 'deletes_at' | 'id'>) =>
  deletes_at === undefined ? undefined : { owner: LEAVING_WORKSPACES, sort: timed(deletes_at, id) }

export const WorkspaceEntity = defineEntity<Workspace>()({
  name: 'workspace',
  schema: workspace,
  pk: 'WS#{id}',
  sk: 'WS',
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
    /** When they last ceased to be at least that. */
    admin_until: z.number().optional(),
    owner_until: z.number().optional(),
  })

export type Member = z.infer<ReturnType<typeof member>>

export const MemberEntity = defineEntity<Member>()({
  name: 'member',
  schema: member,
  pk: 'WS#{workspace_id}',
  sk: 'MEMBER#{user_id}',
})

const membership = () => z.object({ user_id: z.string(), workspace_id: z.string() })

/** The other way round: which workspaces a person is in. Written with the member. */
export const MembershipEntity = defineEntity<z.infer<ReturnType<typeof membership>>>()({
  name: 'membership',
  schema: membership,
  pk: 'USR#{user_id}',
  sk: 'IN#{workspace_id}',
})

const session = () =>
  z.object({
    id: z.string(),
    user_id: z.string(),
    workspace_id: z.string(),
    /** How it was opened; sessions from before this was kept have none. */
    via: z.enum(['provisioned', 'init_data', 'widget']).optional(),
    created_at: z.number(),
    expires_at: z.number(),
  })

export type Session = z.infer<ReturnType<typeof session>>

/** A console session. Signing out deletes it, which ends its token at the next request. */
export const SessionEntity = defineEntity<Session>()({
  name: 'session',
  schema: session,
  pk: 'SES#{id}',
  sk: 'SES',
  expires: (item) => item.expires_at,
})

const usedSignIn = () => z.object({ hash: z.string(), expires_at: z.number() })

/** Signed sign-in data that was accepted, by its hash: it opens one session. Outlives the data. */
export const UsedSignInEntity = defineEntity<z.infer<ReturnType<typeof usedSignIn>>>()({
  name: 'used-sign-in',
  schema: usedSignIn,
  pk: 'SIGNIN#{hash}',
  sk: 'SIGNIN',
  expires: (item) => item.expires_at,
})

const invitation = () =>
  z.object({
    id: z.string(),
    nonce_hash: z.string(),
    workspace_id: z.string(),
    role: z.enum(ROLES),
    created_by: z.string(),
    created_at: z.number(),
    expires_at: z.number(),
  })

export type Invitation = z.infer<ReturnType<typeof invitation>>

export const InvitationEntity = defineEntity<Invitation>()({
  name: 'invitation',
  schema: invitation,
  pk: 'WS#{workspace_id}',
  sk: 'INVITE#{id}',
  expires: (item) => item.expires_at,
})

const invitationLink = () =>
  z.object({
    nonce_hash: z.string(),
    workspace_id: z.string(),
    invitation_id: z.string(),
    /** The person who joined by it; the invitation itself is gone by then. */
    used_by: z.string().optional(),
    expires_at: z.number(),
  })

/** The hash of an invitation's nonce → the invitation. */
export const InvitationLinkEntity = defineEntity<z.infer<ReturnType<typeof invitationLink>>>()({
  name: 'invitation-link',
  schema: invitationLink,
  pk: 'JOIN#{nonce_hash}',
  sk: 'JOIN',
  expires: (item) => item.expires_at,
})
