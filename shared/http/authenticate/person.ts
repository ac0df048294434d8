import { authenticatePerson } from '#shared/access/hosts/index.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { bearerOf, unauthorized } from '../bearer-token.ts'
import { takeRateLimit } from '../rate-limit.ts'
import type { Authenticator } from './types.ts'

/** Authenticates a person by the token of their host, at the resource that the request is for. */
export const person: Authenticator<'person'> = async (deps, { headers, path, again }) => {
  const token = bearerOf(headers)
  if (token === undefined) throw unauthorized('The Authorization header is missing.')
  const principal = await authenticatePerson(deps, token, path)
  const bucket = { name: `person:${principal.person.id}`, rate: LIMITS.callerRate, scope: 'user' } as const
  return { caller: { kind: 'person', ...principal }, headers: again ? {} : await takeRateLimit(deps, bucket) }
}
