import * as z from 'zod'
import type { App } from '#shared/catalogue/apps/index.ts'
import { idField } from '#shared/foundation/schemas/index.ts'
import { type Issuer, issuerUrl } from '#shared/foundation/tokens/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { intersect } from '#shared/kernel/scopes.ts'
import { loadLiveGrant } from '../grants/grant-state.ts'
import { type PresentedToken, readPresentedToken } from './presented-token.ts'

const seconds = (example: number) =>
  z.number().int().optional().meta({ description: 'Seconds since 1970, UTC.', example })

/** RFC 7662 §2.2. The response for an inactive token contains only `active`. */
export const IntrospectionSchema = () =>
  z
    .object({
      active: z.boolean().meta({ description: 'The other fields are present only if this is true.' }),
      scope: z
        .string()
        .optional()
        .meta({ description: 'Scopes that the token has now, separated by spaces.', example: 'runs:read runs:write' }),
      client_id: idField('app').optional(),
      token_type: z.enum(['Bearer', 'refresh_token']).optional().meta({
        description: '`Bearer` for an access token, `refresh_token` for a refresh token, which no API accepts.',
      }),
      exp: seconds(1_795_263_330),
      iat: seconds(1_795_256_130),
      sub: idField('ins').optional(),
      aud: z
        .string()
        .optional()
        .meta({ description: 'URL of the API that accepts the token.', example: 'https://platform.example/api/v1' }),
      iss: z.string().optional().meta({ example: 'https://platform.example' }),
      installation_id: idField('ins').optional(),
      workspace_id: idField('ws').optional(),
    })
    .meta({ id: 'TokenIntrospection', description: 'RFC 7662' })

export type Introspection = z.infer<ReturnType<typeof IntrospectionSchema>>

const INACTIVE: Introspection = { active: false }

/**
 * Handles `POST /oauth/introspect`: reports whether the token would work now. It reads the same records as a request with
 * the token, so a revocation, suspension or rotated secret takes effect at once. The response never gives the reason that
 * a token doesn't work (RFC 7662 §2.2). Tokens of the other issuer, unknown, expired, rotated, revoked and suspended tokens, those of other clients
 * and of other kinds all look alike.
 */
export const introspectToken = async (deps: Deps, app: App, token: string, issuer?: Issuer): Promise<Introspection> => {
  if (app.status === 'suspended') return INACTIVE
  const presented = await readPresentedToken(deps, app, token)
  if (!presented || presented.replaced || presented.issuer !== issuer) return INACTIVE
  const live = await findLiveGrant(deps, presented)
  if (!live) return INACTIVE
  const { kind, installation_id, workspace_id, scopes, exp, iat, aud } = presented
  return {
    active: true,
    scope: intersect(scopes ?? live.grant.scopes, live.installation.scopes).join(' '),
    client_id: app.id,
    token_type: kind === 'access' ? 'Bearer' : 'refresh_token',
    exp,
    iat,
    sub: installation_id,
    aud,
    iss: issuerUrl(deps.settings, issuer),
    installation_id,
    workspace_id,
  }
}

const NOT_LIVE = new Set(['invalid_grant', 'installation_suspended'])

const findLiveGrant = async (deps: Deps, presented: PresentedToken) => {
  try {
    return await loadLiveGrant(deps, presented)
  } catch (error) {
    if (error instanceof PlatformError && NOT_LIVE.has(error.code)) return undefined
    throw error
  }
}
