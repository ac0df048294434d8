import type { App } from '../entities/apps.ts'
import type { Grant, Installation } from '../entities/installations.ts'
import type { Member, Session, User, Workspace } from '../entities/people.ts'
import type { Admin } from '../entities/platform.ts'
import type { Run } from '../entities/runs.ts'
import type { Scope } from '../kernel/scopes.ts'

/** An integration: an access, callback or surface token (specification "Authentication"). */
export interface IntegrationCaller {
  kind: 'integration'
  /** `expiresAt` in epoch seconds. */
  token: { type: 'access' | 'callback' | 'surface'; expiresAt: number }
  /** What the token allows now: its grant's scopes, cut down to the installation's. */
  scopes: Scope[]
  installation: Installation
  app: App
  workspace: Workspace
  grant: Grant | undefined
  /** The run a callback token is bound to. */
  run: Run | undefined
  /** The person (`usr_…`) in whose browser a surface token is: what is another person's alone does not exist for it. */
  viewer?: string | undefined
}

export interface DeveloperCaller {
  kind: 'developer'
  developerId: string
  /** The key was rotated; it only gets the answer of that rotation once more. */
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
  /** The key's name, when one was used instead of a session. */
  keyName: string | undefined
}

/** An OAuth client that identified itself by body fields. */
export interface ClientCaller {
  kind: 'client'
  app: App
}

export interface Nobody {
  kind: 'none'
}

export interface Callers {
  none: Nobody
  client: ClientCaller
  integration: IntegrationCaller
  developer: DeveloperCaller
  console: ConsoleCaller
  admin: AdminCaller
}

export type CallerKind = keyof Callers
export type Caller = Callers[CallerKind]
