import { loadSession, recordUse } from '#shared/identity/people/index.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { authenticateToken, unauthorized } from '../bearer-token.ts'
import { takeRateLimit } from '../rate-limit.ts'
import type { Authenticator } from './types.ts'

/** Authenticates a person by their console session. */
export const consoleUser: Authenticator<'console'> = async (deps, { headers, method, again }) => {
  const token = await authenticateToken(deps, headers, method, ['console'])
  if (token.kind !== 'console') throw unauthorized('This endpoint requires a console token.')
  const [live, rateHeaders] = await Promise.all([
    loadSession(deps, token.claims),
    again ? {} : takeRateLimit(deps, { name: `user:${token.claims.usr}`, rate: LIMITS.callerRate, scope: 'user' }),
  ])
  if (!live) throw unauthorized('The session has ended.', 'Sign in again.')
  if (!again) await recordUse(deps, live)
  return { caller: { kind: 'console', ...live }, headers: rateHeaders }
}
