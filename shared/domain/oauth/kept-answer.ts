import type { App } from '../../entities/apps.ts'
import {
  type AuthorizationCode,
  AuthorizationCodeEntity,
  type RefreshToken,
  RefreshTokenEntity,
} from '../../entities/oauth.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/secrets.ts'
import type { Deps } from '../deps.ts'
import { liveGrant } from './grant-state.ts'
import { TokenRequest } from './token-request.ts'

/**
 * May the answer that is kept under an `Idempotency-Key` be given again? Only while nothing ended what it holds: the app
 * and the grant are live, and nobody used the pair in it (decisions §2). Otherwise presenting the code or token again is
 * what it always is.
 * @param body as it came, not yet checked
 */
export const answerStillHolds = async (deps: Pick<Deps, 'table'>, app: App, body: unknown): Promise<boolean> => {
  if (app.status === 'suspended') return false
  const exchanged = await exchangedFor(deps, body)
  // Then the answer is a refusal, and holds nothing.
  if (exchanged?.app_id !== app.id) return true
  const { successor_hash } = exchanged
  return (await isLive(deps, exchanged)) && (successor_hash === undefined || isUnused(deps, successor_hash))
}

/** What the request presented by its `grant_type`, and no other code or token that stands beside it. */
const exchangedFor = async (
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

const isLive = async (deps: Pick<Deps, 'table'>, record: Parameters<typeof liveGrant>[1]): Promise<boolean> => {
  try {
    await liveGrant(deps, record)
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
