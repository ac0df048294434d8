import { decodeJwt } from 'jose'
import type { App } from '../../entities/apps.ts'
import { RefreshTokenEntity } from '../../entities/oauth.ts'
import { sha256 } from '../../kernel/secrets.ts'
import type { Deps } from '../deps.ts'
import { TOKENS, verifyToken } from '../tokens/tokens.ts'

/** A token that this server gave to a client, and the grant behind it. Times in epoch seconds, as RFC 7662 has them. */
export interface PresentedToken {
  kind: 'access' | 'refresh'
  app_id: string
  workspace_id: string
  installation_id: string
  grant_id: string
  aud: string
  iat: number
  exp: number
  /** Its client got a newer one for it: replaced by a refresh, or ended by the rotation of the client's secret. */
  replaced: boolean
}

const REFRESH_TOKEN = /^rft_[\w-]{43}$/

/**
 * What a client presents for introspection or revocation. Its shape says which kind it is, so that `token_type_hint` is
 * not needed; a server may ignore it (RFC 7009 §2.1, RFC 7662 §2.1).
 * @returns undefined for whatever is no access or refresh token of this client, and for one that has expired
 */
export const readPresented = async (deps: Deps, app: App, token: string): Promise<PresentedToken | undefined> => {
  const found = REFRESH_TOKEN.test(token) ? await refreshToken(deps, token) : await accessToken(deps, app, token)
  return found && found.app_id === app.id && found.exp * 1_000 > deps.clock.now() ? found : undefined
}

const refreshToken = async ({ table, settings }: Deps, token: string): Promise<PresentedToken | undefined> => {
  const record = await table.get(RefreshTokenEntity, { token_hash: sha256(token) })
  if (!record) return undefined
  const { app_id, workspace_id, installation_id, grant_id, created_at, expires_at, rotated_at } = record
  return {
    kind: 'refresh',
    app_id,
    workspace_id,
    installation_id,
    grant_id,
    // Nobody but the token endpoint takes it.
    aud: `${settings.baseUrl}/oauth/token`,
    iat: Math.floor(created_at / 1_000),
    exp: Math.floor(expires_at / 1_000),
    replaced: rotated_at !== undefined,
  }
}

const accessToken = async (deps: Deps, app: App, token: string): Promise<PresentedToken | undefined> => {
  const verified = await verifyToken(deps, token, ['access'])
  if (verified?.kind !== 'access') return undefined
  const { ins, ws, app: app_id, grt, sv } = verified.claims
  return {
    kind: 'access',
    app_id,
    workspace_id: ws,
    installation_id: ins,
    grant_id: grt,
    aud: deps.settings.baseUrl + TOKENS.access.audience,
    iat: decodeJwt(token).iat ?? 0,
    exp: verified.expiresAt,
    replaced: sv !== app.secret_version,
  }
}
