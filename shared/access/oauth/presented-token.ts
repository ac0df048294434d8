import { decodeJwt } from 'jose'
import type { App } from '#shared/catalogue/apps/index.ts'
import { type Issuer, issuerUrl, TOKENS, verifyToken } from '#shared/foundation/tokens/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { RefreshTokenEntity } from '../grants/entity.ts'

/** A token that this server issued to a client, and the grant behind it. Times are in epoch seconds, as in RFC 7662. */
export interface PresentedToken {
  kind: 'access' | 'refresh'
  app_id: string
  workspace_id: string
  installation_id: string
  grant_id: string
  /** Server that issued it. */
  issuer: Issuer
  /** Scopes of an access token that has fewer than its grant. */
  scopes?: Scope[]
  aud: string
  iat: number
  exp: number
  /** Replaced by a newer token through a refresh, or ended by the rotation of the client's secret. */
  replaced: boolean
}

const REFRESH_TOKEN = /^rft_[0-9a-z]{26}_[\w-]{43}$/

/**
 * Reads the token that a client presents for introspection or revocation. Its format gives its kind, so
 * `token_type_hint` isn't needed and may be ignored (RFC 7009 §2.1, RFC 7662 §2.1).
 * @returns undefined unless it is an access or refresh token of this client that hasn't expired
 */
export const readPresentedToken = async (deps: Deps, app: App, token: string): Promise<PresentedToken | undefined> => {
  const found = REFRESH_TOKEN.test(token)
    ? await readRefreshToken(deps, token)
    : await readAccessToken(deps, app, token)
  return found && found.app_id === app.id && found.exp * 1_000 > deps.clock.now() ? found : undefined
}

const readRefreshToken = async ({ table, settings }: Deps, token: string): Promise<PresentedToken | undefined> => {
  const record = await table.get(RefreshTokenEntity, { token_hash: sha256(token) })
  if (!record) return undefined
  const { app_id, workspace_id, installation_id, grant_id, issuer, created_at, expires_at, rotated_at } = record
  return {
    kind: 'refresh',
    app_id,
    workspace_id,
    installation_id,
    grant_id,
    issuer,
    // Only the token endpoint accepts it.
    aud: `${settings.baseUrl}/${issuer ?? 'oauth'}/token`,
    iat: Math.floor(created_at / 1_000),
    exp: Math.floor(expires_at / 1_000),
    replaced: rotated_at !== undefined,
  }
}

const readAccessToken = async (deps: Deps, app: App, token: string): Promise<PresentedToken | undefined> => {
  const verified = await verifyToken(deps, token, ['access'])
  if (verified?.kind !== 'access') return undefined
  const { ins, ws, app: app_id, grt, sv, scp } = verified.claims
  const { iss, iat = 0 } = decodeJwt(token)
  return {
    kind: 'access',
    app_id,
    workspace_id: ws,
    installation_id: ins,
    grant_id: grt,
    issuer: iss === issuerUrl(deps.settings, 'connect') ? 'connect' : undefined,
    ...(scp !== undefined && { scopes: scp.split(' ') as Scope[] }),
    aud: deps.settings.baseUrl + TOKENS.access.audience,
    iat,
    exp: verified.expiresAt,
    replaced: sv !== app.secret_version,
  }
}
