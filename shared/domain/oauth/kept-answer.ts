import type { App } from '../../entities/apps.ts'
import { AuthorizationCodeEntity, RefreshTokenEntity } from '../../entities/oauth.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/secrets.ts'
import type { Deps } from '../deps.ts'
import { liveGrant } from './grant-state.ts'
import type { TokenRequestInput } from './token-request.ts'

/**
 * May the answer that is kept under an `Idempotency-Key` be given again? Only while nothing ended what it holds: the app
 * and the grant are live, and, after a refresh, the pair in it is unused (decisions §2). Otherwise presenting the code or
 * token again is what it always is.
 */
export const answerStillHolds = async (
  deps: Pick<Deps, 'table'>,
  app: App,
  { code, refresh_token }: TokenRequestInput,
): Promise<boolean> => {
  if (app.status === 'suspended') return false
  const [redeemed, rotated] = await Promise.all([
    code ? deps.table.get(AuthorizationCodeEntity, { code_hash: sha256(code) }) : undefined,
    refresh_token ? deps.table.get(RefreshTokenEntity, { token_hash: sha256(refresh_token) }) : undefined,
  ])
  const record = redeemed ?? rotated
  if (!record) return true
  return (
    (await isLive(deps, record)) && (rotated?.successor_hash === undefined || isUnused(deps, rotated.successor_hash))
  )
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
