import { createHash } from 'node:crypto'
import type { App } from '../../entities/apps.ts'
import { type AuthorizationCode, AuthorizationCodeEntity } from '../../entities/oauth.ts'
import { fail } from '../../kernel/errors.ts'
import { sameSecret, sha256 } from '../../kernel/secrets.ts'
import { missing } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { invalidGrant, liveGrant, refuseSuspended, useGrant } from './grant-state.ts'
import { revokeChain } from './revoke-chain.ts'
import { commitPair, newTokenPair, type TokenResponse } from './token-pair.ts'

export interface Redemption {
  code: string
  code_verifier: string
  redirect_uri: string | undefined
}

/**
 * Turns an authorization code into tokens, once: marking it used is a condition of the transaction that makes them, so
 * of parallel redemptions exactly one gets them. A later one with valid credentials and verifier revokes what the first
 * one issued; a wrong one changes nothing (decisions §2).
 * @throws `invalid_grant` with `details.expected` and `details.received` when the redirect address differs
 */
export const redeemCode = async (work: Work, app: App, input: Redemption): Promise<TokenResponse> => {
  refuseSuspended(app)
  const redirectUri = input.redirect_uri ?? onlyAddress(app)
  const code = await work.table.get(AuthorizationCodeEntity, { code_hash: sha256(input.code) })
  if (!code || code.app_id !== app.id) throw invalidGrant('The authorization code is not valid.')
  const now = work.clock.now()
  matchRedirect(code, redirectUri, now)
  matchChallenge(code, input.code_verifier)
  if (code.used_at !== undefined) {
    await revokeChain(work, code, 'code_reuse', app.name)
    throw usedUp()
  }
  if (code.expires_at <= now) throw invalidGrant('The authorization code has expired; it is valid for 5 minutes.')
  const { grant, installation } = await liveGrant(work, code)
  const pair = await newTokenPair(work, app, installation, grant)
  return commitPair(work, pair, [
    AuthorizationCodeEntity.update(
      { code_hash: code.code_hash },
      { set: { used_at: now, successor_hash: pair.record.token_hash } },
      { where: { used_at: missing }, otherwise: usedUp },
    ),
    useGrant(grant, now),
  ])
}

const usedUp = () =>
  invalidGrant('The authorization code was used already.', {
    fix: 'Start the authorization again. To repeat a lost answer, send the first request’s Idempotency-Key.',
  })

/** An app with one address may leave `redirect_uri` out (specification "OAuth"). */
const onlyAddress = ({ redirect_uris }: App): string => {
  const [only, ...others] = redirect_uris
  if (only !== undefined && others.length === 0) return only
  throw fail('invalid_request', {
    message: 'redirect_uri is missing; only an app with exactly one address may leave it out.',
    fix: 'Send the redirect_uri of the authorize request.',
  })
}

const matchRedirect = (
  { redirect_uri: expected, used_at, expires_at }: AuthorizationCode,
  received: string,
  now: number,
): void => {
  if (received === expected) return
  throw invalidGrant('The redirect_uri is not that of the authorize request.', {
    fix:
      used_at === undefined && expires_at > now
        ? 'Send details.expected, character for character; the code is still good.'
        : 'Start the authorization again, and send details.expected, character for character.',
    details: { expected, received: received.slice(0, 2_048) },
  })
}

/** RFC 7636 §4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

/** RFC 7636 §4.6: whatever does not give the challenge is `invalid_grant`, a verifier that breaks its syntax included. */
const matchChallenge = ({ code_challenge }: AuthorizationCode, verifier: string): void => {
  if (!VERIFIER.test(verifier)) {
    throw invalidGrant('The code_verifier does not have 43 to 128 of the characters A-Z a-z 0-9 - . _ ~.', {
      fix: 'Make code_verifier as RFC 7636 section 4.1 says, and begin the authorization again with its challenge.',
    })
  }
  if (sameSecret(createHash('sha256').update(verifier).digest('base64url'), code_challenge)) return
  throw invalidGrant('The code_verifier does not match the code_challenge.', {
    fix: 'Send the code_verifier whose challenge began this authorization.',
  })
}
