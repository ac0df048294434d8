import { liveSession } from '../../domain/people/sessions.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { tokenOf, unauthorized } from '../principal.ts'
import { limit } from '../rate-limit.ts'
import type { Authenticator } from './types.ts'

/** A person's console session. */
export const consoleUser: Authenticator<'console'> = async (deps, { headers, method, again }) => {
  const token = await tokenOf(deps, headers, method, ['console'])
  if (token.kind !== 'console') throw unauthorized('A console token is needed.')
  const [live, rateHeaders] = await Promise.all([
    liveSession(deps, token.claims),
    again ? {} : limit(deps, [{ name: `user:${token.claims.usr}`, rate: LIMITS.callerRate, scope: 'user' }]),
  ])
  if (!live) throw unauthorized('The session has ended.', 'Sign in again.')
  return { caller: { kind: 'console', ...live }, headers: rateHeaders }
}
