import type { App } from '../../entities/apps.ts'
import { type RefreshToken, RefreshTokenEntity } from '../../entities/oauth.ts'
import { seal, unseal } from '../../kernel/sealed.ts'
import { sha256 } from '../../kernel/secrets.ts'
import { missing } from '../../table/expressions.ts'
import type { Deps, Work } from '../deps.ts'
import { invalidGrant, liveGrant, refuseSuspended, useGrant } from './grant-state.ts'
import { revokeChain } from './revoke-chain.ts'
import { commitPair, newTokenPair, type TokenResponse } from './token-pair.ts'

/** The token was rotated between reading it and writing: not reuse, a race. */
class Raced extends Error {}

/** Binds a sealed pair to the token that it replaced. */
const keptRecord = (tokenHash: string): string => `refresh:${tokenHash}`

/**
 * Replaces a refresh token by a new pair, in one conditional transaction (decisions §2):
 *
 *     live ──refresh──► rotated, its successor live
 *     rotated ──presented again──► the whole chain revoked
 *
 * A request that read the token as live and lost gets the winner's pair, which the rotated record keeps sealed. So does,
 * for `REFRESH_REUSE_WINDOW_SECONDS`, a repeat whose successor nobody used yet.
 * @throws `invalid_grant` for a token that is unknown, of another client, expired, rotated or revoked
 */
export const refresh = async (work: Work, app: App, token: string): Promise<TokenResponse> => {
  refuseSuspended(app)
  const read = () => work.table.get(RefreshTokenEntity, { token_hash: sha256(token) })
  const record = await read()
  if (!record || record.app_id !== app.id) throw invalidGrant('The refresh token is not valid.')
  if (record.rotated_at !== undefined) {
    const repeated = await repeatedInTime(work, record)
    if (repeated) return repeated
    await revokeChain(work, record, 'refresh_token_reuse', app.name)
    throw invalidGrant('The refresh token was used before; every token of its chain has been revoked.', {
      fix: 'Ask the customer to connect the app again. Keep the newest refresh token, and repeat a lost refresh with the same Idempotency-Key.',
    })
  }
  if (record.expires_at <= work.clock.now()) {
    throw invalidGrant('The refresh token has expired; it lives for 90 days without use.', {
      fix: 'Ask the customer to connect the app again, through GET /oauth/authorize.',
    })
  }
  try {
    return await rotate(work, app, record)
  } catch (error) {
    if (!(error instanceof Raced)) throw error
    const rotated = await read()
    if (rotated?.kept === undefined) throw invalidGrant('The refresh token is not valid.')
    // Whoever lost may have lost to a revocation, too: a dead pair is no answer.
    await liveGrant(work, rotated)
    return open(work, rotated)
  }
}

const rotate = async (work: Work, app: App, old: RefreshToken): Promise<TokenResponse> => {
  const { grant, installation } = await liveGrant(work, old)
  const pair = await newTokenPair(work, app, installation, grant)
  const now = work.clock.now()
  const kept = await seal(await work.keys.data(), keptRecord(old.token_hash), JSON.stringify(pair.response))
  return commitPair(work, pair, [
    RefreshTokenEntity.update(
      { token_hash: old.token_hash },
      { set: { rotated_at: now, successor_hash: pair.record.token_hash, kept } },
      { where: { rotated_at: missing }, otherwise: () => new Raced() },
    ),
    useGrant(grant, now),
  ])
}

const repeatedInTime = async (work: Work, record: RefreshToken): Promise<TokenResponse | undefined> => {
  const { refreshReuseWindowMs } = work.settings
  const { rotated_at = 0, successor_hash, kept } = record
  if (refreshReuseWindowMs === 0 || work.clock.now() - rotated_at > refreshReuseWindowMs) return undefined
  if (kept === undefined || successor_hash === undefined) return undefined
  const [successor] = await Promise.all([
    work.table.get(RefreshTokenEntity, { token_hash: successor_hash }),
    liveGrant(work, record),
  ])
  return successor && successor.rotated_at === undefined ? open(work, record) : undefined
}

const open = async (deps: Pick<Deps, 'keys'>, { token_hash, kept = '' }: RefreshToken): Promise<TokenResponse> =>
  JSON.parse(await unseal(await deps.keys.data(), keptRecord(token_hash), kept)) as TokenResponse
