import { createHash } from 'node:crypto'
import type { App } from '#shared/catalogue/apps/index.ts'
import type { Issuer } from '#shared/foundation/tokens/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { sameSecret, sha256 } from '#shared/kernel/secrets.ts'
import { missing } from '#shared/table/expressions.ts'
import { type AuthorizationCode, AuthorizationCodeEntity } from '../grants/entity.ts'
import { invalidGrant, loadLiveGrant, refuseSuspended, useGrant } from '../grants/grant-state.ts'
import { revokeChain } from '../grants/revoke-chain.ts'
import { commitPair, newTokenPair, type TokenResponse } from './token-pair.ts'

export interface Redemption {
  code: string
  code_verifier: string
  redirect_uri: string | undefined
}

/**
 * Exchanges an authorization code for tokens, once. Marking it used is a condition of the transaction that creates the
 * tokens, so exactly one of several parallel redemptions gets them. A later redemption with valid credentials and
 * verifier revokes what the first one issued. An invalid one changes nothing
 * (contract/oauth-and-tokens.md#authorization-codes).
 * @throws `invalid_grant` with `details.expected` and `details.received` when the redirect address differs
 */
export const redeemCode = async (work: Work, app: App, input: Redemption, issuer: Issuer): Promise<TokenResponse> => {
  refuseSuspended(app)
  const redirectUri = input.redirect_uri ?? onlyRedirectUri(app)
  const code = await work.table.get(AuthorizationCodeEntity, { code_hash: sha256(input.code) })
  // Another client's or issuer's code is as unknown as none, so that a stolen one tells nothing about itself.
  if (!code || code.app_id !== app.id || code.issuer !== issuer) {
    throw invalidGrant('The authorization code is invalid.', { details: { reason: 'unknown' } })
  }
  const now = work.clock.now()
  matchRedirect(code, redirectUri, now)
  matchChallenge(code, input.code_verifier)
  if (code.used_at !== undefined) {
    await revokeChain(work, code, 'code_reuse', app.name)
    throw alreadyUsed()
  }
  if (code.expires_at <= now)
    throw invalidGrant('The authorization code has expired; it is valid for 5 minutes.', {
      details: { reason: 'expired' },
    })
  const { grant, installation } = await loadLiveGrant(work, code)
  const pair = await newTokenPair(work, app, installation, grant, { issuer })
  return commitPair(work, pair, [
    AuthorizationCodeEntity.update(
      { code_hash: code.code_hash },
      { set: { used_at: now, successor_hash: pair.record.token_hash } },
      { where: { used_at: missing }, otherwise: alreadyUsed },
    ),
    useGrant(grant, now),
  ])
}

const alreadyUsed = () =>
  invalidGrant('The authorization code has already been used.', {
    fix: 'Start the authorization again. To repeat a lost response, send the Idempotency-Key of the first request.',
    details: { reason: 'already_used' },
  })

/** Returns the app's only address. An app with one may omit `redirect_uri` (contract/oauth-and-tokens.md#token-request). */
const onlyRedirectUri = ({ redirect_uris }: App): string => {
  const [only, ...others] = redirect_uris
  if (only !== undefined && others.length === 0) return only
  throw fail('invalid_request', {
    message: 'redirect_uri is missing. Only an app with exactly one redirect address may omit it.',
    fix: 'Send the redirect_uri of the authorize request.',
  })
}

const matchRedirect = (
  { redirect_uri: expected, used_at, expires_at }: AuthorizationCode,
  received: string,
  now: number,
): void => {
  if (received === expected) return
  throw invalidGrant('The redirect_uri differs from the one in the authorize request.', {
    fix:
      used_at === undefined && expires_at > now
        ? 'Send details.expected, character for character. The code is still valid.'
        : 'Start the authorization again, and send details.expected, character for character.',
    details: { reason: 'redirect_uri_mismatch', expected, received: received.slice(0, 2_048) },
  })
}

/** RFC 7636 §4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

/** RFC 7636 §4.6: a verifier that doesn't match the challenge is `invalid_grant`, even if its syntax is wrong. */
const matchChallenge = ({ code_challenge }: AuthorizationCode, verifier: string): void => {
  if (!VERIFIER.test(verifier)) {
    throw invalidGrant('The code_verifier must have 43 to 128 of the characters A-Z a-z 0-9 - . _ ~.', {
      fix: 'Create code_verifier as described in RFC 7636, section 4.1, and start the authorization again with its challenge.',
      details: { reason: 'code_verifier_invalid' },
    })
  }
  if (sameSecret(createHash('sha256').update(verifier).digest('base64url'), code_challenge)) return
  throw invalidGrant('The code_verifier does not match the code_challenge.', {
    fix: 'Send the code_verifier of the challenge in the authorize request.',
    details: { reason: 'code_verifier_mismatch' },
  })
}
