import * as z from 'zod'
import type { App } from '../../entities/apps.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { intersect } from '../../kernel/scopes.ts'
import type { Deps } from '../deps.ts'
import { idField } from '../fields.ts'
import { liveGrant } from './grant-state.ts'
import { type PresentedToken, readPresented } from './presented-token.ts'

const seconds = (example: number) =>
  z.number().int().optional().meta({ description: 'Seconds since 1970, UTC.', example })

/** RFC 7662 §2.2. An inactive token's answer has `active` alone. */
export const IntrospectionSchema = () =>
  z
    .object({
      active: z.boolean().meta({ description: 'Everything else is there only if this is true.' }),
      scope: z
        .string()
        .optional()
        .meta({ description: 'What the grant comes to now, separated by spaces.', example: 'runs:read runs:write' }),
      client_id: idField('app').optional(),
      token_type: z
        .enum(['Bearer', 'refresh_token'])
        .optional()
        .meta({ description: '`Bearer` for an access token, `refresh_token` for what no API takes.' }),
      exp: seconds(1_795_263_330),
      iat: seconds(1_795_256_130),
      sub: idField('ins').optional(),
      aud: z
        .string()
        .optional()
        .meta({ description: 'Who takes the token.', example: 'https://platform.example/api/v1' }),
      iss: z.string().optional().meta({ example: 'https://platform.example' }),
      installation_id: idField('ins').optional(),
      workspace_id: idField('ws').optional(),
    })
    .meta({ id: 'TokenIntrospection', description: 'RFC 7662' })

export type Introspection = z.infer<ReturnType<typeof IntrospectionSchema>>

const INACTIVE: Introspection = { active: false }

/**
 * `POST /oauth/introspect`: would the token work now? Read from the same records as a request with it, so that a
 * revocation, suspension or rotated secret shows at once. Why a token does not work is told to nobody (RFC 7662 §2.2):
 * unknown, expired, rotated, revoked, suspended, another client's, and every other kind of token are all alike.
 */
export const introspect = async (deps: Deps, app: App, token: string): Promise<Introspection> => {
  if (app.status === 'suspended') return INACTIVE
  const presented = await readPresented(deps, app, token)
  if (!presented || presented.replaced) return INACTIVE
  const live = await liveOrNot(deps, presented)
  if (!live) return INACTIVE
  const { kind, installation_id, workspace_id, exp, iat, aud } = presented
  return {
    active: true,
    scope: intersect(live.grant.scopes, live.installation.scopes).join(' '),
    client_id: app.id,
    token_type: kind === 'access' ? 'Bearer' : 'refresh_token',
    exp,
    iat,
    sub: installation_id,
    aud,
    iss: deps.settings.baseUrl,
    installation_id,
    workspace_id,
  }
}

const NOT_LIVE = new Set(['invalid_grant', 'installation_suspended'])

const liveOrNot = async (deps: Deps, presented: PresentedToken) => {
  try {
    return await liveGrant(deps, presented)
  } catch (error) {
    if (error instanceof PlatformError && NOT_LIVE.has(error.code)) return undefined
    throw error
  }
}
