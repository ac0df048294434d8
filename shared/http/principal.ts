import { decodeProtectedHeader } from 'jose'
import type { Deps } from '../domain/deps.ts'
import { TOKENS, type TokenKind, type Verified, verifyToken } from '../domain/tokens/tokens.ts'
import { fail } from '../kernel/errors.ts'
import type { Method } from './endpoint.ts'

/** The bearer token of a request, or undefined when there is no Authorization header. */
export const bearerOf = (headers: Record<string, string>): string | undefined => {
  const header = headers.authorization
  if (header === undefined) return undefined
  const match = /^Bearer +([\w.~+/=-]+) *$/i.exec(header)
  if (!match?.[1]) throw unauthorized('The Authorization header must be: Bearer <token>.')
  return match[1]
}

/** A 401 that says what kind of credential is wanted. */
export const unauthorized = (message: string, fix?: string) => fail('unauthorized', { message, fix })

/**
 * Reads the bearer token of a request that wants one of `kinds`.
 * A surface token where none is taken gets its own refusal, whatever the group: it never writes (specification
 * "Authentication", rule 8) and reads nothing but its installation's part of `/api/v1`.
 */
export const tokenOf = async (
  deps: Deps,
  headers: Record<string, string>,
  method: Method,
  kinds: readonly TokenKind[],
): Promise<Verified> => {
  const token = bearerOf(headers)
  if (token === undefined) throw unauthorized('The Authorization header is missing.')
  if (!kinds.includes('surface')) refuseSurface(token, method)
  const verified = await verifyToken(deps, token, kinds)
  if (!verified) throw unauthorized('The token is invalid, expired or of another kind.')
  if (verified.kind === 'surface' && method !== 'GET') throw fail('disposable_token_readonly')
  return verified
}

/** What a token says it is, unchecked; undefined when it is no token of ours. */
export const typeOf = (token: string): string | undefined => {
  try {
    return decodeProtectedHeader(token).typ
  } catch {
    return undefined
  }
}

/** By its type alone: not every function may read the ring that signs surface tokens, and a refusal gives nothing away. */
export const refuseSurface = (token: string, method: Method): void => {
  if (typeOf(token) !== TOKENS.surface.typ) return
  if (method !== 'GET') throw fail('disposable_token_readonly')
  throw fail('insufficient_scope', { message: 'A surface token reads GET /api/v1/* only.' })
}
