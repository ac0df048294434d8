import type { App } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import {
  type AuthorizationCode,
  AuthorizationCodeEntity,
  type RefreshToken,
  RefreshTokenEntity,
} from '../grants/entity.ts'
import { loadLiveGrant } from '../grants/grant-state.ts'
import { TokenRequest } from './token-request.ts'

/**
 * Reports whether the response kept under an `Idempotency-Key` may be repeated. The app and the grant must be live and its
 * token pair unused (contract/oauth-and-tokens.md#refresh-tokens). Otherwise the code or token is handled as presented
 * again.
 * @param body as received, not yet validated
 */
export const canRepeatTokenResponse = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  app: App,
  body: unknown,
): Promise<boolean> => {
  if (app.status === 'suspended') return false
  const exchanged = await loadExchanged(deps, body)
  // Otherwise the kept response is a refusal and contains no tokens.
  if (exchanged?.app_id !== app.id) return true
  const { successor_hash } = exchanged
  return (await isLive(deps, exchanged)) && (successor_hash === undefined || isUnused(deps, successor_hash))
}

/** Loads the code or token that the `grant_type` calls for, and ignores the other parameter. */
const loadExchanged = async (
  { table }: Pick<Deps, 'table'>,
  body: unknown,
): Promise<AuthorizationCode | RefreshToken | undefined> => {
  const { grant_type, code, refresh_token } = TokenRequest().parse(body)
  if (grant_type === 'authorization_code' && code)
    return table.get(AuthorizationCodeEntity, { code_hash: sha256(code) })
  if (grant_type === 'refresh_token' && refresh_token) {
    return table.get(RefreshTokenEntity, { token_hash: sha256(refresh_token) })
  }
  return undefined
}

const isLive = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  record: Parameters<typeof loadLiveGrant>[1],
): Promise<boolean> => {
  try {
    await loadLiveGrant(deps, record)
    return true
  } catch (error) {
    if (error instanceof PlatformError) return false
    throw error
  }
}

const isUnused = async ({ table }: Pick<Deps, 'table'>, token_hash: string): Promise<boolean> => {
  const successor = await table.get(RefreshTokenEntity, { token_hash })
  return successor !== undefined && successor.rotated_at === undefined
}
