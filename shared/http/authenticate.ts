import { decodeProtectedHeader } from 'jose'
import { adminByKey } from '../domain/admins/sign-in.ts'
import type { Deps } from '../domain/deps.ts'
import { clientByCredentials } from '../domain/oauth/clients.ts'
import { TOKENS, type Verified } from '../domain/tokens/tokens.ts'
import { AppEntity } from '../entities/apps.ts'
import { DeveloperKeyEntity } from '../entities/developers.ts'
import { GrantEntity, InstallationEntity } from '../entities/installations.ts'
import { MemberEntity, SessionEntity, UserEntity, WorkspaceEntity } from '../entities/people.ts'
import { AdminEntity } from '../entities/platform.ts'
import { RunEntity } from '../entities/runs.ts'
import { fail } from '../kernel/errors.ts'
import { LIMITS } from '../kernel/limits.ts'
import { intersect } from '../kernel/scopes.ts'
import { sha256 } from '../kernel/secrets.ts'
import type {
  AdminCaller,
  Caller,
  CallerKind,
  ClientCaller,
  ConsoleCaller,
  DeveloperCaller,
  IntegrationCaller,
} from './callers.ts'
import type { Method } from './endpoint.ts'
import { bearerOf, tokenOf, unauthorized } from './principal.ts'
import { limit } from './rate-limit.ts'

export interface Credentials {
  headers: Record<string, string>
  method: Method
  /** The parsed body, for clients that identify themselves in it. */
  body: unknown
}

export interface Authenticated<C extends Caller = Caller> {
  caller: C
  /** Rate headers of the answer. */
  headers: Record<string, string>
}

/** Who calls: one batch read of everything that decides it, with the rate limits' writes at the same time. */
export const authenticate = (deps: Deps, kind: CallerKind, credentials: Credentials): Promise<Authenticated> => {
  switch (kind) {
    case 'integration':
      return integration(deps, credentials)
    case 'developer':
      return developer(deps, credentials)
    case 'console':
      return consoleUser(deps, credentials)
    case 'admin':
      return admin(deps, credentials)
    case 'client':
      return client(deps, credentials)
    case 'none':
      return Promise.resolve({ caller: { kind: 'none' }, headers: {} })
  }
}

type IntegrationToken = Extract<Verified, { kind: 'access' | 'callback' | 'surface' }>

const integration = async (deps: Deps, { headers, method }: Credentials): Promise<Authenticated<IntegrationCaller>> => {
  const token = (await tokenOf(deps, headers, method, ['access', 'callback', 'surface'])) as IntegrationToken
  const { ins, ws, app: appId, sv } = token.claims
  const refs = [
    { entity: InstallationEntity, key: InstallationEntity.key({ workspace_id: ws, id: ins }) },
    { entity: AppEntity, key: AppEntity.key({ id: appId }) },
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: ws }) },
  ] as const
  const grantRef =
    token.kind === 'access'
      ? [{ entity: GrantEntity, key: GrantEntity.key({ installation_id: ins, id: token.claims.grt }) }]
      : []
  const runRef =
    token.kind === 'callback'
      ? [{ entity: RunEntity, key: RunEntity.key({ installation_id: ins, id: token.claims.run }) }]
      : []
  const [records, rateHeaders] = await Promise.all([
    deps.table.getAll([...refs, ...grantRef, ...runRef]),
    limit(deps, [
      { name: `installation:${ins}`, rate: LIMITS.installationRate, scope: 'installation' },
      { name: `app:${appId}`, rate: LIMITS.appRate, scope: 'app' },
    ]),
  ])
  const [installation, app, workspace, bound] = records as [
    IntegrationCaller['installation'] | undefined,
    IntegrationCaller['app'] | undefined,
    IntegrationCaller['workspace'] | undefined,
    unknown,
  ]
  const grant = token.kind === 'access' ? (bound as IntegrationCaller['grant']) : undefined
  const run = token.kind === 'callback' ? (bound as IntegrationCaller['run']) : undefined
  const live =
    installation &&
    app &&
    workspace &&
    installation.status !== 'revoked' &&
    app.secret_version === sv &&
    (token.kind !== 'access' || grant?.status === 'active') &&
    (token.kind !== 'callback' || run)
  if (!live) throw unauthorized('The token was revoked.', 'Refresh it, or ask the customer to install the app again.')
  if (app.status === 'suspended') throw fail('app_suspended')
  if (installation.status === 'suspended' || workspace.status === 'suspended') throw fail('installation_suspended')
  const scopes = grant
    ? intersect(grant.scopes, installation.scopes)
    : intersect(installation.scopes, installation.scopes)
  return {
    caller: {
      kind: 'integration',
      token: { type: token.kind, expiresAt: token.expiresAt },
      scopes: token.kind === 'surface' ? scopes.filter((scope) => scope.endsWith(':read')) : scopes,
      installation,
      app,
      workspace,
      grant,
      run,
    },
    headers: rateHeaders,
  }
}

const developer = async (deps: Deps, { headers, method }: Credentials): Promise<Authenticated<DeveloperCaller>> => {
  const key = headers['x-developer-key']
  if (key === undefined) {
    refuseToken(headers, method)
    throw unauthorized('The X-Developer-Key header is missing.', 'Register with POST /api/v1/dev/register to get a key.')
  }
  const record = await deps.table.get(DeveloperKeyEntity, { key_hash: sha256(key) })
  if (!record) throw unauthorized('The developer key is wrong or was rotated.', 'Send the newest key.')
  if (record.status === 'blocked') {
    throw fail('not_a_developer', { message: 'The developer account is blocked.', fix: 'Contact the platform’s support.' })
  }
  const rate = await limit(deps, [
    { name: `developer:${record.developer_id}`, rate: LIMITS.callerRate, scope: 'developer' },
  ])
  return { caller: { kind: 'developer', developerId: record.developer_id }, headers: rate }
}

/** Says which credential is wanted to somebody who sends another of ours. Reads only the token's type: no key needed. */
const refuseToken = (headers: Record<string, string>, method: Method): void => {
  const token = bearerOf(headers)
  if (token === undefined) return
  let typ: string | undefined
  try {
    typ = decodeProtectedHeader(token).typ
  } catch {
    return
  }
  if (typ === TOKENS.surface.typ) {
    throw method === 'GET'
      ? fail('insufficient_scope', { message: 'A surface token reads GET /api/v1/* only.' })
      : fail('disposable_token_readonly')
  }
  if (Object.values(TOKENS).some((kind) => kind.typ === typ)) throw fail('not_a_developer')
}

const consoleUser = async (deps: Deps, { headers, method }: Credentials): Promise<Authenticated<ConsoleCaller>> => {
  const token = await tokenOf(deps, headers, method, ['console'])
  if (token.kind !== 'console') throw unauthorized('A console token is needed.')
  const { ses, usr, ws } = token.claims
  const [records, rateHeaders] = await Promise.all([
    deps.table.getAll([
      { entity: SessionEntity, key: SessionEntity.key({ id: ses }) },
      { entity: UserEntity, key: UserEntity.key({ id: usr }) },
      { entity: MemberEntity, key: MemberEntity.key({ workspace_id: ws, user_id: usr }) },
      { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: ws }) },
    ]),
    limit(deps, [{ name: `user:${usr}`, rate: LIMITS.callerRate, scope: 'user' }]),
  ])
  const [session, user, member, workspace] = records
  const live = session && session.expires_at > deps.clock.now() && user?.status === 'active' && member && workspace
  if (!live) throw unauthorized('The session has ended.', 'Sign in again.')
  return { caller: { kind: 'console', session, user, member, workspace }, headers: rateHeaders }
}

const admin = async (deps: Deps, { headers, method }: Credentials): Promise<Authenticated<AdminCaller>> => {
  const key = headers['x-admin-key']
  if (key !== undefined) {
    const found = await adminByKey(deps, key)
    if (!found) throw unauthorized('The admin key is wrong, expired or was removed.')
    return adminCaller(deps, { kind: 'admin', admin: found.admin, keyName: found.name })
  }
  const token = await tokenOf(deps, headers, method, ['admin'])
  if (token.kind !== 'admin') throw unauthorized('An admin token is needed.')
  const record = await deps.table.get(AdminEntity, { id: token.claims.adm })
  if (record?.session_version !== token.claims.sv) throw unauthorized('The session has ended.', 'Sign in again.')
  return adminCaller(deps, { kind: 'admin', admin: record, keyName: undefined })
}

const adminCaller = async (deps: Deps, caller: AdminCaller): Promise<Authenticated<AdminCaller>> => ({
  caller,
  headers: await limit(deps, [{ name: `admin:${caller.admin.id}`, rate: LIMITS.callerRate, scope: 'admin' }]),
})

const client = async (deps: Deps, { body }: Credentials): Promise<Authenticated<ClientCaller>> => {
  const { client_id, client_secret } = (body ?? {}) as Record<string, unknown>
  const app = await clientByCredentials(deps, client_id, client_secret)
  const headers = await limit(deps, [{ name: `client:${app.id}`, rate: LIMITS.clientRate, scope: 'client' }])
  return { caller: { kind: 'client', app }, headers }
}
