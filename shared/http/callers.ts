import type { Grant } from '#shared/access/grants/index.ts'
import type { HostClient, PersonPrincipal } from '#shared/access/hosts/index.ts'
import type { Installation } from '#shared/access/installations/index.ts'
import type { App } from '#shared/catalogue/apps/index.ts'
import type { DeveloperRole, Giver } from '#shared/identity/developers/index.ts'
import type { Member, Session, User, Workspace } from '#shared/identity/people/index.ts'
import type { Admin, AdminSession, NextStep } from '#shared/staff/admins/index.ts'
import type { Run } from '#shared/work/runs/index.ts'
import type { Scope } from '../kernel/scopes.ts'

/** An integration: an access, callback or surface token (contract/general.md#callers). */
export interface IntegrationCaller {
  kind: 'integration'
  /** `expiresAt` in epoch seconds. */
  token: { type: 'access' | 'callback' | 'surface'; expiresAt: number }
  /** Scopes that the token allows now, before bans: those of its grant or of the installation. */
  scopes: Scope[]
  installation: Installation
  app: App
  workspace: Workspace
  /** The grant that the token is bound to. None for a direct install, and for surface tokens. */
  grant: Grant | undefined
  /** The token has only the scopes of its grant, not those of the installation. */
  isLimited: boolean
  /** Scopes of the token if they are fewer than those of its grant (RFC 6749 §6). */
  narrowed: Scope[] | undefined
  /** The run that a callback token is bound to. */
  run: Run | undefined
  /** The person (`usr_…`) whose browser holds a surface token. Other people's private records are invisible to it. */
  viewer?: string | undefined
}

export interface DeveloperCaller {
  kind: 'developer'
  developerId: string
  /** Rights of the key, or of the teammate who signed in. */
  role: DeveloperRole
  /** Names the key or session, in records that end with it. */
  credential: Giver
  /** Names the key, or the teammate who signed in, in records that outlast a session. */
  root: Giver
  isSession: boolean
  /** The teammate who signed in to the portal by e-mail or passkey. Absent for keys, and sessions opened with one. */
  member?: { id: string; signedInAt: number }
  /** The key was rotated. It can only repeat that rotation to get the same response. */
  ended?: true
}

export interface ConsoleCaller {
  kind: 'console'
  session: Session
  user: User
  workspace: Workspace
  member: Member
}

export interface AdminCaller {
  kind: 'admin'
  admin: Admin
  /** The key's name, if an admin key was used instead of a session. */
  keyName: string | undefined
  /** Absent if a key was used. */
  session: AdminSession | undefined
  /** Step that the admin has to take before the session can be used for anything else. */
  nextStep: NextStep | undefined
  confirmation: {
    method: 'passkey' | 'password'
    isRecent: boolean
    /** True if the stage lets this account do without. */
    isOptional: boolean
  }
}

/** A person who acts through a host, such as an assistant (contract/connect.md#people-and-their-hosts). */
export interface PersonCaller extends PersonPrincipal {
  kind: 'person'
}

/** An OAuth client, identified by body fields. */
export interface ClientCaller {
  kind: 'client'
  app: App
}

/** A person's host, such as an assistant, at the token endpoints. */
export interface HostCaller {
  kind: 'host'
  client: HostClient
}

export interface AnonymousCaller {
  kind: 'none'
}

export interface Callers {
  none: AnonymousCaller
  client: ClientCaller
  host: HostCaller
  integration: IntegrationCaller
  person: PersonCaller
  developer: DeveloperCaller
  console: ConsoleCaller
  admin: AdminCaller
}

export type CallerKind = keyof Callers

/** Kinds of caller that come through a host, by the kind that an endpoint declares. */
export const THROUGH_HOSTS = { integration: 'person', client: 'host' } as const

type ThroughHosts = typeof THROUGH_HOSTS

/** Kinds that an endpoint can declare. The others reach it only if it is a resource of hosts, too. */
export type DeclaredKind = Exclude<CallerKind, ThroughHosts[keyof ThroughHosts]>

/** Kinds that reach an endpoint. @template H true if it is a resource of hosts, too */
export type Reaching<C extends DeclaredKind, H> =
  | C
  | (H extends true ? (C extends keyof ThroughHosts ? ThroughHosts[C] : never) : never)
export type Caller = Callers[CallerKind]

/** Returns the kinds of caller that reach an endpoint. */
export const callersOf = ({ caller, hosts }: { caller: DeclaredKind; hosts?: true | undefined }): CallerKind[] =>
  hosts && caller in THROUGH_HOSTS ? [caller, THROUGH_HOSTS[caller as keyof ThroughHosts]] : [caller]

/** Returns the name that idempotency keys and cursors are bound to, or undefined before sign-in. */
export const callerName = (caller: Caller): string | undefined => {
  switch (caller.kind) {
    case 'integration':
      return caller.run ? `${caller.installation.id}/${caller.run.id}` : caller.installation.id
    case 'person':
      return caller.name
    case 'developer':
      return caller.member ? `${caller.developerId}/${caller.member.id}` : caller.developerId
    case 'console':
      return `${caller.user.id}/${caller.workspace.id}`
    case 'admin':
      return caller.keyName ? `${caller.admin.id}/${caller.keyName}` : caller.admin.id
    case 'client':
      return `client/${caller.app.id}`
    // The id of a host is public. What it sent tells its requests apart.
    case 'host':
    case 'none':
      return undefined
  }
}
