import { TOKENS } from '#shared/foundation/tokens/index.ts'
import { DeveloperKeyEntity } from '#shared/identity/developers/index.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { sameSecret, sha256 } from '../../kernel/secrets.ts'
import { WRONG_KEY } from '../authorize.ts'
import { bearerOf, claimedTokenType, rejectSurfaceToken, unauthorized } from '../bearer-token.ts'
import type { Method } from '../endpoint.ts'
import { takeRateLimits } from '../rate-limit.ts'
import type { Authenticator } from './types.ts'

/** Authenticates a developer by their key. */
export const developer: Authenticator<'developer'> = async (deps, { headers, method, again }) => {
  const key = headers['x-developer-key']
  if (key === undefined) {
    refuseToken(headers, method)
    throw unauthorized(
      'The X-Developer-Key header is missing.',
      'Register with POST /api/v1/dev/register to get a key.',
    )
  }
  const record = await deps.table.get(DeveloperKeyEntity, { key_hash: sha256(key) })
  if (!record) throw fail('unauthorized', WRONG_KEY)
  const { status, recovery_hash, expires_at = 0 } = record
  if (status === 'ended') {
    const recovers = sameSecret(recovery_hash ?? '', sha256(headers['idempotency-key'] ?? ''))
    if (method !== 'POST' || !recovers || expires_at <= deps.clock.now()) throw fail('unauthorized', WRONG_KEY)
  }
  if (status === 'active' && record.expires_at !== undefined && record.expires_at <= deps.clock.now()) {
    throw fail('unauthorized', {
      message: 'The developer key has expired.',
      fix: 'Create another with POST /api/v1/dev/me/keys and a key that hasn’t.',
    })
  }
  if (status === 'blocked') {
    throw fail('not_a_developer', {
      message: 'The developer account is blocked.',
      fix: 'Contact platform support.',
    })
  }
  const rate = again
    ? {}
    : await takeRateLimits(deps, [
        { name: `developer:${record.developer_id}`, rate: LIMITS.callerRate, scope: 'developer' },
      ])
  const ended = status === 'ended' && { ended: true as const }
  return { caller: { kind: 'developer', developerId: record.developer_id, ...ended }, headers: rate }
}

/**
 * Names the expected credential to a caller who sends another kind of token. Reads only the token's type, so it needs
 * no key.
 */
const refuseToken = (headers: Record<string, string>, method: Method): void => {
  const token = bearerOf(headers)
  if (token === undefined) return
  rejectSurfaceToken(token, method)
  const type = claimedTokenType(token)
  if (Object.values(TOKENS).some(({ typ }) => typ === type)) throw fail('not_a_developer')
}
