import { clientByCredentials } from '../../domain/oauth/clients.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { limit } from '../rate-limit.ts'
import type { Authenticator } from './types.ts'

/** An OAuth client that identifies itself by body fields. */
export const client: Authenticator<'client'> = async (deps, { body }) => {
  const { client_id, client_secret } = (body ?? {}) as Record<string, unknown>
  const app = await clientByCredentials(deps, client_id, client_secret)
  const headers = await limit(deps, [{ name: `client:${app.id}`, rate: LIMITS.clientRate, scope: 'client' }])
  return { caller: { kind: 'client', app }, headers }
}
