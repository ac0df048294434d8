import { createHash } from 'node:crypto'
import type { App } from '../../entities/apps.ts'
import { type AuthorizationCode, AuthorizationCodeEntity } from '../../entities/oauth.ts'
import { fail } from '../../kernel/errors.ts'
import { sameSecret, sha256 } from '../../kernel/secrets.ts'
import { missing } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { invalidGrant, liveGrant, refuseSuspended, useGrant } from './grant-state.ts'
import { revokeChain } from './revoke-chain.ts'
import { newTokenPair, type TokenResponse } from './token-pair.ts'

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
  const code = await work.table.get(AuthorizationCodeEntity, { code_hash: sha256(input.code) })
  if (!code || code.app_id !== app.id) throw invalidGrant('The authorization code is not valid.')
  matchRedirect(app, code, input.redirect_uri)
  if (!verifies(code, input.code_verifier)) throw invalidGrant('The code_verifier does not match the code_challenge.')
  if (code.used_at !== undefined) {
    await revokeChain(work, code, 'code_reuse', app.name)
    throw usedUp()
  }
  const now = work.clock.now()
  if (code.expires_at <= now) throw invalidGrant('The authorization code has expired; it is valid for 5 minutes.')
  const { grant, installation } = await liveGrant(work, code)
  const { response, writes } = await newTokenPair(work, app, installation, grant)
  await work.commit(
    [
      AuthorizationCodeEntity.update(
        { code_hash: code.code_hash },
        { set: { used_at: now } },
        { where: { used_at: missing }, otherwise: usedUp },
      ),
      useGrant(grant, now),
      ...writes,
    ],
    response,
  )
  return response
}

const usedUp = () => invalidGrant('The authorization code was used already.')

/** `redirect_uri` must be the authorize request's; an app with one address may leave it out (specification "OAuth"). */
const matchRedirect = (app: App, { redirect_uri: expected }: AuthorizationCode, received: string | undefined): void => {
  if (received === undefined) {
    if (app.redirect_uris.length <= 1) return
    throw fail('invalid_request', {
      message: 'redirect_uri is missing; the app has more than one.',
      fix: 'Send the redirect_uri of the authorize request.',
    })
  }
  if (received === expected) return
  throw invalidGrant('The redirect_uri is not that of the authorize request.', {
    expected,
    received: received.slice(0, 2_048),
  })
}

/** RFC 7636 §4.6. */
const verifies = ({ code_challenge }: AuthorizationCode, verifier: string): boolean =>
  sameSecret(createHash('sha256').update(verifier).digest('base64url'), code_challenge)
