import type { Verified } from '../../domain/tokens/tokens.ts'
import { AppEntity } from '../../entities/apps.ts'
import { GrantEntity, InstallationEntity } from '../../entities/installations.ts'
import { MemberEntity, type User, UserEntity, WorkspaceEntity } from '../../entities/people.ts'
import { RunEntity } from '../../entities/runs.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { covers, intersect, SCOPE_NAMES, type Scope } from '../../kernel/scopes.ts'
import type { IntegrationCaller } from '../callers.ts'
import { tokenOf, unauthorized } from '../principal.ts'
import { limit, restore } from '../rate-limit.ts'
import type { Authenticator } from './types.ts'

type IntegrationToken = Extract<Verified, { kind: 'access' | 'callback' | 'surface' }>

/** An integration's access, callback or surface token. */
export const integration: Authenticator<'integration'> = async (deps, { headers, method, again }) => {
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
  // A surface token is a person's view of the installation: it ends with their membership.
  const personRefs =
    token.kind === 'surface'
      ? [
          { entity: MemberEntity, key: MemberEntity.key({ workspace_id: ws, user_id: token.claims.usr }) },
          { entity: UserEntity, key: UserEntity.key({ id: token.claims.usr }) },
        ]
      : []
  const ofInstallation = { name: `installation:${ins}`, rate: LIMITS.installationRate, scope: 'installation' }
  const ofApp = { name: `app:${appId}`, rate: LIMITS.appRate, scope: 'app' }
  const buckets = again ? [] : [ofInstallation, ofApp]
  const [records, rateHeaders] = await Promise.all([
    deps.table.getAll([...refs, ...grantRef, ...runRef, ...personRefs]),
    again ? {} : limit(deps, buckets),
  ])
  const [installation, app, workspace, bound, user] = records as [
    IntegrationCaller['installation'] | undefined,
    IntegrationCaller['app'] | undefined,
    IntegrationCaller['workspace'] | undefined,
    unknown,
    User | undefined,
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
    (token.kind !== 'callback' || run) &&
    (token.kind !== 'surface' || (bound && user?.status === 'active'))
  // What a token that has ended asks for is not taken from those that live; failed authentications have a limit of their own.
  if (!live) await restore(deps, buckets)
  if (!live) throw unauthorized('The token was revoked.', 'Refresh it, or ask the customer to install the app again.')
  if (app.status === 'suspended') throw fail('app_suspended')
  if (installation.status === 'suspended' || workspace.status !== 'active') {
    await restore(deps, buckets.slice(1))
    throw fail('installation_suspended')
  }
  const scopes = grant
    ? intersect(grant.scopes, installation.scopes)
    : intersect(installation.scopes, installation.scopes)
  return {
    caller: {
      kind: 'integration',
      token: { type: token.kind, expiresAt: token.expiresAt },
      scopes: token.kind === 'surface' ? readable(scopes) : scopes,
      installation,
      app,
      workspace,
      grant,
      run,
      viewer: user?.id,
    },
    headers: rateHeaders,
  }
}

/** What a surface token reads: the granted read scopes, those that a write scope implies among them. */
const readable = (scopes: readonly Scope[]): Scope[] =>
  SCOPE_NAMES.filter((scope) => scope.endsWith(':read') && covers(scopes, scope))
