import type { Grant } from '#shared/access/grants/index.ts'
import type { Installation } from '#shared/access/installations/index.ts'
import type { App } from '#shared/catalogue/apps/index.ts'
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
  /** The run that a callback token is bound to. */
  run: Run | undefined
  /** The person (`usr_…`) whose browser holds a surface token. Other people's private records are invisible to it. */
  viewer?: string | undefined
}

export interface DeveloperCaller {
  kind: 'developer'
  developerId: string
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

/** An OAuth client, identified by body fields. */
export interface ClientCaller {
  kind: 'client'
  app: App
}

export interface AnonymousCaller {
  kind: 'none'
}

export interface Callers {
  none: AnonymousCaller
  client: ClientCaller
  integration: IntegrationCaller
  developer: DeveloperCaller
  console: ConsoleCaller
  admin: AdminCaller
}

export type CallerKind = keyof Callers
export type Caller = Callers[CallerKind]

/** Returns the name that idempotency keys and cursors are bound to, or undefined before sign-in. */
export const callerName = (caller: Caller): string | undefined => {
  switch (caller.kind) {
    case 'integration':
      return caller.run ? `${caller.installation.id}/${caller.run.id}` : caller.installation.id
    case 'developer':
      return caller.developerId
    case 'console':
      return `${caller.user.id}/${caller.workspace.id}`
    case 'admin':
      return caller.keyName ? `${caller.admin.id}/${caller.keyName}` : caller.admin.id
    case 'client':
      return `client/${caller.app.id}`
    case 'none':
      return undefined
  }
}
