import { GrantEntity } from '#shared/access/grants/entity.ts'
import {
  AppInstallationEntity,
  InstallationEntity,
  InstallationPlaceEntity,
} from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { signingSecretRecord } from '#shared/catalogue/apps/signing-secret.ts'
import { standingWrites } from '#shared/catalogue/apps/standing.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { ClaimEntity, CounterEntity } from '#shared/foundation/claims/entity.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import {
  type Member,
  MemberEntity,
  MembershipEntity,
  type Role,
  type Session,
  SessionEntity,
  UserEntity,
  WorkspaceEntity,
} from '#shared/identity/people/entity.ts'
import { seal } from '#shared/kernel/encryption.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { SCOPE_NAMES, type Scope } from '#shared/kernel/scopes.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { AdminSessionEntity } from '#shared/staff/admins/entity.ts'
import { placeOfWorkspace, rosterWrites } from '#shared/staff/roster/places.ts'
import { ConversationEntity, MessageEntity } from '#shared/work/conversations/entity.ts'
import type { TestPlatform } from './platform.ts'

type Deps = TestPlatform['deps']

let unique = 0

export interface InstalledOptions {
  endpoint?: string
  scopes?: readonly Scope[]
  resume?: boolean
  /** `runtime.retry.max_attempts` of the manifest. */
  maxAttempts?: number
  /** Workspace to install into, instead of a new one. */
  workspaceId?: string
  /** Name of the app. */
  name?: string
}

/** Creates an approved app installed in a customer's workspace, with an access token and a person who may decide. */
export const installed = async (deps: Deps, options: InstalledOptions = {}) => {
  const now = deps.clock.now()
  const n = ++unique
  const id = (kind: Parameters<typeof newId>[0]) => newId(kind, now)
  const scopes = [...(options.scopes ?? SCOPE_NAMES)]
  const app_id = id('app')
  const clientSecret = newSecret('cs_')
  const signingSecret = `agsec_${Buffer.from(`secret-${n}`.padEnd(32, '.')).toString('base64')}`
  const ring = await deps.keys.data()
  const endpoint = options.endpoint ?? 'http://127.0.0.1:9/never'
  const version = {
    ...stampOf(id('version')),
    app_id,
    version: '1.0.0',
    status: 'approved' as const,
    agent_id: `vendor.agent-${n}`,
    manifest: {
      json: JSON.stringify({
        id: `vendor.agent-${n}`,
        version: '1.0.0',
        name: `Agent ${n}`,
        summary: 'An agent.',
        runtime: { type: 'webhook', endpoint },
      }),
    },
    runtime_type: 'webhook' as const,
    endpoint,
    resume: options.resume ?? false,
    ...(options.maxAttempts !== undefined && { max_attempts: options.maxAttempts }),
  }
  const app = {
    ...stampOf(app_id),
    developer_id: id('developer'),
    slug: `agent-${n}`,
    type: 'agent' as const,
    name: options.name ?? `Agent ${n}`,
    summary: 'An agent.',
    description: 'An agent of the tests.',
    redirect_uris: ['https://client.example/callback'],
    requested_scopes: scopes,
    status: 'approved' as const,
    client_secret_hash: sha256(clientSecret),
    secret_version: 1,
    signing_secrets: [{ value: await seal(ring, signingSecretRecord(app_id), signingSecret) }],
    promoted_version: '1.0.0',
    promoted_version_id: version.id,
    newest_version_id: version.id,
    verified: false,
    updated_at: now,
  }
  const workspaceId = options.workspaceId ?? (await workspace(deps)).id
  const person = await member(deps, workspaceId, 'owner')
  const grantId = id('grant')
  const installation = {
    ...stampOf(id('installation')),
    workspace_id: workspaceId,
    app_id,
    app_slug: app.slug,
    app_name: app.name,
    agent_id: `vendor.agent-${n}`,
    status: 'active' as const,
    scopes,
    version: '1.0.0',
    version_id: version.id,
    consents: {
      grants: 1,
      granted: Object.fromEntries(scopes.map((scope) => [scope, 1])),
      latest: grantId,
    },
    consent_version: 1,
    is_sandbox: false,
    allowed_callers: null,
    denied_tools: [],
    owner: { id: person.user.id, name: person.user.name },
    updated_at: now,
  }
  const grant = {
    ...stampOf(grantId),
    installation_id: installation.id,
    workspace_id: workspaceId,
    app_id,
    scopes,
    status: 'active' as const,
    kind: 'oauth' as const,
  }
  await deps.table.transact([
    AppEntity.create(app),
    ...standingWrites(undefined, app),
    VersionEntity.create(version),
    InstallationEntity.create(installation),
    AppInstallationEntity.create({ workspace_id: workspaceId, app_id, installation_id: installation.id }),
    InstallationPlaceEntity.create({ installation_id: installation.id, workspace_id: workspaceId }),
    GrantEntity.create(grant),
  ])
  const { token } = await issueToken(deps, 'access', {
    ins: installation.id,
    ws: workspaceId,
    app: app_id,
    grt: grant.id,
    sv: 1,
  })
  return { app, version, installation, grant, token, person, clientSecret, signingSecret, workspaceId }
}

export type Installed = Awaited<ReturnType<typeof installed>>

/** Lets an app that {@link installed} made be installed by its slug. */
export const allowInstalling = ({ table }: Deps, { app }: Pick<Installed, 'app'>): Promise<void> =>
  table.transact([ClaimEntity.create({ kind: 'slug', value: app.slug, owner_id: app.id })])

/** Returns an app with the installation that it has now, and a token for it. */
export const installedAgain = async <T extends Installed>(deps: Deps, one: T, id: string): Promise<T> => {
  const { workspaceId, app } = one
  const installation = await deps.table.get(InstallationEntity, { workspace_id: workspaceId, id })
  if (!installation) throw new Error(`There is no installation ${id}.`)
  const grant = { ...one.grant, ...stampOf(newId('grant', deps.clock.now())), installation_id: id }
  await deps.table.transact([GrantEntity.create(grant)])
  const claims = { ins: id, ws: workspaceId, app: app.id, grt: grant.id, sv: 1 }
  const { token } = await issueToken(deps, 'access', claims)
  return { ...one, installation, grant, token }
}

export const workspace = async (deps: Deps) => {
  const now = deps.clock.now()
  const record = {
    ...stampOf(newId('workspace', now)),
    name: `Workspace ${++unique}`,
    is_sandbox: false,
    status: 'active' as const,
    locale: 'en',
    time_zone: 'UTC',
    cross_agent_enabled: true,
    denied_tools: [],
    denied_scopes: [],
  }
  await deps.table.transact([WorkspaceEntity.create(record), ...rosterWrites(undefined, placeOfWorkspace(record))])
  return record
}

/** Builds a console session that begins now. */
export const sessionOf = ({ clock }: Pick<Deps, 'clock'>, userId: string, workspaceId: string): Session => ({
  ...stampOf(newId('session', clock.now())),
  user_id: userId,
  workspace_id: workspaceId,
  via: 'provisioned',
  expires_at: clock.now() + 12 * 3_600_000,
})

/** Creates a signed-in person with a role in a workspace. */
export const member = async (deps: Deps, workspaceId: string, role: Role) => {
  const now = deps.clock.now()
  const user = {
    ...stampOf(newId('user', now)),
    name: `Person ${++unique}`,
    identity: `test:${unique}`,
    locale: 'en',
    time_zone: 'UTC',
    status: 'active' as const,
    home_workspace_id: workspaceId,
  }
  const session = sessionOf(deps, user.id, workspaceId)
  const joined: Member = { workspace_id: workspaceId, user_id: user.id, name: user.name, role, joined_at: now }
  await deps.table.transact([
    UserEntity.create(user),
    MemberEntity.create(joined),
    MembershipEntity.create({ user_id: user.id, workspace_id: workspaceId }),
    SessionEntity.create(session),
  ])
  return { user, session, token: await tokenOf(deps, session, joined) }
}

/** Issues a console token of a session in a membership. */
export const tokenOf = async (deps: Deps, { id: ses, user_id: usr }: Session, member: Member): Promise<string> => {
  const claims = { ses, usr, ws: member.workspace_id, mem: member.joined_at }
  return (await issueToken(deps, 'console', claims)).token
}

/** Issues a callback token for a run, like the one in run.execute. */
export const callbackToken = async (deps: Deps, installedApp: Awaited<ReturnType<typeof installed>>, runId: string) =>
  (
    await issueToken(deps, 'callback', {
      ins: installedApp.installation.id,
      ws: installedApp.workspaceId,
      app: installedApp.app.id,
      run: runId,
      grt: installedApp.grant.id,
      sv: installedApp.app.secret_version,
    })
  ).token

/** Counts an installation's active runs, as their limit does. */
export const activeRuns = async ({ table }: Deps, { installation }: Pick<Installed, 'installation'>): Promise<number> =>
  (await table.get(CounterEntity, { owner: installation.id, counter: 'active_runs' }))?.n ?? 0

/** Creates a conversation between a person and an installed agent, with one message of the person. */
export const conversation = async (deps: Deps, { installation, person, workspaceId }: Installed) => {
  // In the past, so that later writes count as changes.
  const now = deps.clock.now() - 1_000
  const id = newId('conversation', now)
  const { user } = person
  await deps.table.transact([
    ConversationEntity.create({
      ...stampOf(id),
      workspace_id: workspaceId,
      kind: 'agent',
      title: 'With the agent',
      installation_id: installation.id,
      user_id: user.id,
      last_message_at: now,
    }),
    MessageEntity.create({
      ...stampOf(newId('message', now)),
      conversation_id: id,
      workspace_id: workspaceId,
      author: { type: 'user', id: user.id, name: user.name },
      text: 'Hello?',
      attachments: [],
    }),
  ])
  return { id }
}

/** Signs an admin in, without their password. @returns a token */
export const adminToken = async (deps: Deps, adminId: string, version = 1): Promise<string> => {
  const now = deps.clock.now()
  const session = {
    ...stampOf(newId('adminSession', now)),
    admin_id: adminId,
    version,
    confirmed_at: now,
    confirmed_with: 'password' as const,
    expires_at: now + LIMITS.adminTokenLife,
  }
  await deps.table.transact([AdminSessionEntity.create(session)])
  return (await issueToken(deps, 'admin', { adm: adminId, ses: session.id })).token
}
