import { GrantEntity, pausedGrant, sandboxRights } from '#shared/access/grants/index.ts'
import { hasConsent, InstallationEntity } from '#shared/access/installations/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Verified } from '#shared/foundation/tokens/index.ts'
import {
  isActive,
  isMembership,
  isStillGiven,
  loadGiver,
  type Member,
  MemberEntity,
  suspended,
  type User,
  UserEntity,
  WorkspaceEntity,
} from '#shared/identity/people/index.ts'
import { RunEntity } from '#shared/work/runs/index.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { intersect, readableScopes, type Scope } from '../../kernel/scopes.ts'
import { authenticateToken, unauthorized } from '../bearer-token.ts'
import type { IntegrationCaller } from '../callers.ts'
import { type Bucket, giveBackSharedRateLimits, type SharedBuckets, takeSharedRateLimits } from '../rate-limit.ts'
import type { Authenticator } from './types.ts'

type IntegrationToken = Extract<Verified, { kind: 'access' | 'callback' | 'surface' }>

/** One app's runs must not take all executions of requests that wait (docs/scale.md#bulkheads). */
const WAITING: Bucket = {
  name: 'waits',
  rate: LIMITS.waitedRunRate,
  scope: 'app',
  counts: 'runs that a request waits for',
}

/** Authenticates an integration by its access, callback or surface token. */
export const integration: Authenticator<'integration'> = async (deps, { headers, method, query, again }) => {
  const token = (await authenticateToken(deps, headers, method, ['access', 'callback', 'surface'])) as IntegrationToken
  const { ins, ws, app: appId, sv } = token.claims
  const refs = [
    InstallationEntity.ref({ workspace_id: ws, id: ins }),
    AppEntity.ref({ id: appId }),
    WorkspaceEntity.ref({ id: ws }),
  ] as const
  const grantId = token.kind === 'surface' ? undefined : token.claims.grt
  const grantRef = grantId === undefined ? [] : [GrantEntity.ref({ installation_id: ins, id: grantId })]
  const runRef = token.kind === 'callback' ? [RunEntity.ref({ installation_id: ins, id: token.claims.run })] : []
  // A surface token is a person's view of the installation. It ends with their membership.
  const personRefs =
    token.kind === 'surface'
      ? [MemberEntity.ref({ workspace_id: ws, user_id: token.claims.usr }), UserEntity.ref({ id: token.claims.usr })]
      : []
  const buckets: SharedBuckets = {
    whole: { name: `app:${appId}`, rate: LIMITS.appRate, scope: 'app' },
    part: { name: ins, rate: LIMITS.installationRate, scope: 'installation' },
    waiting: query.some(([name]) => name === 'wait') ? WAITING : undefined,
  }
  const giveBack = async (keepsPart?: boolean) => {
    if (!again) await giveBackSharedRateLimits(deps, buckets, keepsPart)
  }
  const [records, rateHeaders] = await Promise.all([
    deps.table.getAll([...refs, ...runRef, ...personRefs, ...grantRef]),
    again ? {} : takeSharedRateLimits(deps, buckets),
  ])
  const [installation, app, workspace, ...bound] = records as [
    IntegrationCaller['installation'] | undefined,
    IntegrationCaller['app'] | undefined,
    IntegrationCaller['workspace'] | undefined,
    ...unknown[],
  ]
  const grant = grantId === undefined ? undefined : (bound.at(-1) as IntegrationCaller['grant'])
  const run = token.kind === 'callback' ? (bound[0] as IntegrationCaller['run']) : undefined
  const [member, user] = token.kind === 'surface' ? (bound as [Member | undefined, User | undefined]) : []
  const now = deps.clock.now()
  const [rights, giver, isGiven] = await Promise.all([
    sandboxRights(deps, grant),
    loadGiver(deps, user),
    member === undefined || isStillGiven(deps, member),
  ])
  const live =
    installation &&
    app &&
    workspace &&
    installation.status !== 'revoked' &&
    app.secret_version === sv &&
    hasConsent(installation) &&
    (grantId === undefined || grant?.status === 'active') &&
    rights !== 'ended' &&
    (token.kind !== 'callback' || run) &&
    (token.kind !== 'surface' || (isGiven && isMembership(member, token.claims.mem) && isActive(user, giver, now)))
  // Requests with an ended token give their share back to live tokens. Failed authentications have their own limit.
  if (!live) await giveBack()
  if (!live)
    throw unauthorized('The token was revoked.', 'Refresh the token, or ask the customer to install the app again.')
  if (app.status === 'suspended') throw fail('app_suspended')
  if (installation.status === 'suspended' || workspace.status !== 'active') {
    await giveBack(true)
    throw suspended(workspace)
  }
  const isLimited = isLimitedToGrant(token)
  if (isLimited && grant?.paused_at !== undefined) {
    await giveBack(true)
    throw pausedGrant()
  }
  const { scp } = token.kind === 'surface' ? {} : token.claims
  const narrowed = scp?.split(' ') as Scope[] | undefined
  const granted = intersect((isLimited && grant?.scopes) || installation.scopes, installation.scopes)
  const scopes = narrowed ? intersect(narrowed, granted) : granted
  return {
    caller: {
      kind: 'integration',
      token: { type: token.kind, expiresAt: token.expiresAt },
      scopes: token.kind === 'surface' || rights === 'reads' ? readableScopes(scopes) : scopes,
      installation,
      app,
      workspace,
      grant,
      isLimited,
      narrowed,
      run,
      viewer: user?.id,
    },
    headers: rateHeaders,
  }
}

/**
 * Reports whether the token has only the scopes of its grant: an access token, and a callback token that was renewed with
 * one. Otherwise a token with few scopes could be exchanged for one with all.
 */
const isLimitedToGrant = (token: IntegrationToken): boolean =>
  token.kind === 'access' || (token.kind === 'callback' && token.claims.lim === true)
