import type { App } from '#shared/catalogue/apps/index.ts'
import type { Issuer } from '#shared/foundation/tokens/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { seal, unseal } from '#shared/kernel/encryption.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { Superseded } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { RefreshSuccessorEntity, type RefreshToken, RefreshTokenEntity } from '../grants/entity.ts'
import { invalidGrant, loadLiveGrant, refuseSuspended, useGrant } from '../grants/grant-state.ts'
import { revokeChain } from '../grants/revoke-chain.ts'
import { narrowedScopes } from './narrow.ts'
import { commitPair, newTokenPair, type TokenResponse } from './token-pair.ts'

/** Record name that binds a sealed pair to the token it replaced. */
const keptRecord = (tokenHash: string): string => `refresh:${tokenHash}`

/** Time for which the new pair is kept for requests that raced with the refresh. */
const KEPT = MINUTE

/**
 * Replaces a refresh token with a new pair, in one conditional transaction (contract/oauth-and-tokens.md#refresh-tokens):
 *
 *     live ──refresh──► rotated, its successor live
 *     rotated ──presented again──► the whole chain revoked
 *
 * A request that read the token as live but lost the race gets the winner's pair, which is kept sealed for a minute.
 * So does a repeat within `REFRESH_REUSE_WINDOW_SECONDS` while the successor is unused.
 * @param asked.scope narrower scopes for the access token (RFC 6749 §6)
 * @throws `invalid_scope`; `invalid_grant` for a token that is unknown, of another client, expired, rotated or revoked
 */
export const refreshTokens = async (
  work: Work,
  app: App,
  token: string,
  asked: { issuer: Issuer; scope?: string | undefined },
): Promise<TokenResponse> => {
  refuseSuspended(app)
  const read = () => work.table.get(RefreshTokenEntity, { token_hash: sha256(token) })
  const record = await read()
  if (!record || record.app_id !== app.id) {
    throw invalidGrant('The refresh token is invalid.', { details: { reason: 'unknown' } })
  }
  if (record.rotated_at !== undefined) {
    const repeated = await repeatWithinWindow(work, record)
    if (repeated) return repeated
    await revokeChain(work, record, 'refresh_token_reuse', app.name)
    throw invalidGrant('The refresh token has already been used. All tokens of its chain were revoked.', {
      fix: 'Ask the customer to connect the app again. Keep the newest refresh token, and repeat a lost refresh with the same Idempotency-Key.',
      details: { reason: 'already_used' },
    })
  }
  if (record.expires_at <= work.clock.now()) {
    throw invalidGrant('The refresh token has expired after 90 days without use.', {
      fix: 'Ask the customer to connect the app again through GET /oauth/authorize.',
      details: { reason: 'expired' },
    })
  }
  try {
    return await rotate(work, app, record, asked)
  } catch (error) {
    // Rotated between reading and writing it: a race, not reuse.
    if (!(error instanceof Superseded)) throw error
    const rotated = (await read()) ?? record
    // The winner may have been a revocation. Don't return a revoked pair.
    const [kept] = await Promise.all([loadKeptPair(work, rotated), loadLiveGrant(work, rotated)])
    if (!kept) throw invalidGrant('The refresh token is invalid.')
    return kept
  }
}

const rotate = async (
  work: Work,
  app: App,
  old: RefreshToken,
  { issuer, scope }: Parameters<typeof refreshTokens>[3],
): Promise<TokenResponse> => {
  const { grant, installation } = await loadLiveGrant(work, old)
  const scopes = narrowedScopes(scope, grant.scopes)
  const pair = await newTokenPair(work, app, installation, grant, { issuer, scopes })
  const now = work.clock.now()
  const kept = await seal(
    work.keys.ofWorkspace(old.workspace_id),
    keptRecord(old.token_hash),
    JSON.stringify(pair.response),
  )
  return commitPair(work, pair, [
    RefreshTokenEntity.update(
      { token_hash: old.token_hash },
      { set: { rotated_at: now, successor_hash: pair.record.token_hash } },
      { where: { rotated_at: missing }, otherwise: () => new Superseded() },
    ),
    RefreshSuccessorEntity.replace({ token_hash: old.token_hash, kept, expires_at: now + KEPT }),
    useGrant(grant, now),
  ])
}

const repeatWithinWindow = async (work: Work, record: RefreshToken): Promise<TokenResponse | undefined> => {
  const windowMs = work.settings.refreshReuseWindowSeconds * SECOND
  const { rotated_at = 0, successor_hash } = record
  if (windowMs === 0 || work.clock.now() - rotated_at > windowMs || successor_hash === undefined) return undefined
  const [successor] = await Promise.all([
    work.table.get(RefreshTokenEntity, { token_hash: successor_hash }),
    loadLiveGrant(work, record),
  ])
  return successor && successor.rotated_at === undefined ? loadKeptPair(work, record) : undefined
}

/** Returns the pair that replaced a token, within a minute. */
const loadKeptPair = async (
  { table, clock, keys }: Pick<Deps, 'table' | 'clock' | 'keys'>,
  { token_hash, workspace_id }: RefreshToken,
): Promise<TokenResponse | undefined> => {
  const successor = await table.get(RefreshSuccessorEntity, { token_hash })
  if (successor === undefined || successor.expires_at <= clock.now()) return undefined
  return JSON.parse(
    await unseal(keys.ofWorkspace(workspace_id), keptRecord(token_hash), successor.kept),
  ) as TokenResponse
}
