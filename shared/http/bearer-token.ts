import { decodeProtectedHeader } from 'jose'
import { TOKENS, type TokenKind, type Verified, verifyToken } from '#shared/foundation/tokens/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '../kernel/errors.ts'
import type { Method } from './endpoint.ts'

/** Returns the bearer token of a request, or undefined if there is no Authorization header. */
export const bearerOf = (headers: Record<string, string>): string | undefined => {
  const header = headers.authorization
  if (header === undefined) return undefined
  const match = /^Bearer +([\w.~+/=-]+) *$/i.exec(header)
  if (!match?.[1]) throw unauthorized('The Authorization header must have the form: Bearer <token>.')
  return match[1]
}

/** Builds a 401 that names the expected credential. */
export const unauthorized = (message: string, fix?: string) => fail('unauthorized', { message, fix })

/**
 * Reads the bearer token of a request that expects one of `kinds`. A surface token gets its own error where it isn't
 * accepted, whatever the group. It never writes (contract/oauth-and-tokens.md#surface-tokens) and reads only its
 * installation's part of `/api/v1`.
 */
export const authenticateToken = async (
  deps: Deps,
  headers: Record<string, string>,
  method: Method,
  kinds: readonly TokenKind[],
): Promise<Verified> => {
  const token = bearerOf(headers)
  if (token === undefined) throw unauthorized('The Authorization header is missing.')
  const verified = await verifyToken(deps, token, kinds)
  if (!verified && !kinds.includes('surface')) rejectSurfaceToken(await provenKind(deps, token), method)
  if (!verified) throw unauthorized('The token is invalid, expired or of the wrong kind.')
  if (verified.kind === 'surface' && method !== 'GET') throw fail('disposable_token_readonly')
  return verified
}

/** Returns the unverified type of a token, or undefined if it isn't a platform token. */
export const claimedTokenType = (token: string): string | undefined => {
  try {
    return decodeProtectedHeader(token).typ
  } catch {
    return undefined
  }
}

/**
 * Returns the kind of a valid token, for a place where none of its kind is accepted. A token that has expired, or that
 * somebody else signed, has no kind: it is as unknown as any other text. Only public keys are read.
 */
export const provenKind = async (deps: Deps, token: string): Promise<TokenKind | undefined> => {
  const kinds = Object.keys(TOKENS) as TokenKind[]
  return isSignedByKeyPair(token) ? (await verifyToken(deps, token, kinds))?.kind : undefined
}

const isSignedByKeyPair = (token: string): boolean => {
  try {
    return decodeProtectedHeader(token).alg === 'ES256'
  } catch {
    return false
  }
}

/** Rejects a valid surface token where it can't be used. */
export const rejectSurfaceToken = (kind: TokenKind | undefined, method: Method): void => {
  if (kind !== 'surface') return
  if (method !== 'GET') throw fail('disposable_token_readonly')
  throw fail('insufficient_scope', {
    message: 'A surface token can only call GET /api/v1/*.',
    fix: 'Sign in with the credential that this endpoint requires. No scope lets a surface token call it.',
    // Its installation isn't read here, so nothing is known of its scopes.
    details: { required_scope: null, granted_scopes: [] },
  })
}
