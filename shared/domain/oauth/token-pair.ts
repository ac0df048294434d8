import * as z from 'zod'
import type { App } from '../../entities/apps.ts'
import type { Grant, Installation } from '../../entities/installations.ts'
import { type RefreshToken, RefreshTokenEntity } from '../../entities/oauth.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { intersect } from '../../kernel/scopes.ts'
import { newSecret, sha256 } from '../../kernel/secrets.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps, Work } from '../deps.ts'
import { idField } from '../fields.ts'
import { issueToken } from '../tokens/tokens.ts'

/** Specification "Token response". */
export const TokenResponseSchema = () =>
  z
    .object({
      access_token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int().meta({ description: 'Seconds.', example: 7_200 }),
      refresh_token: z.string().meta({ description: 'Replaced at every refresh; keep the newest.', example: 'rft_…' }),
      scope: z
        .string()
        .meta({ description: 'What was granted, separated by spaces.', example: 'runs:read runs:write' }),
      installation_id: idField('ins'),
      workspace_id: idField('ws'),
    })
    .meta({ id: 'TokenResponse' })

export type TokenResponse = z.infer<ReturnType<typeof TokenResponseSchema>>

interface TokenPair {
  response: TokenResponse
  record: RefreshToken
  /** Makes the refresh token valid; the table gets its hash only. */
  writes: Write[]
}

/** An access token and the refresh token that goes with it, valid once {@link commitPair} has written them. */
export const newTokenPair = async (
  deps: Pick<Deps, 'clock' | 'settings' | 'keys'>,
  app: Pick<App, 'id' | 'secret_version'>,
  installation: Pick<Installation, 'id' | 'workspace_id' | 'scopes'>,
  grant: Pick<Grant, 'id' | 'scopes'>,
): Promise<TokenPair> => {
  const { id: installation_id, workspace_id } = installation
  const { token, expires_in } = await issueToken(deps, 'access', {
    ins: installation_id,
    ws: workspace_id,
    app: app.id,
    grt: grant.id,
    sv: app.secret_version,
  })
  const refresh_token = newSecret('rft_')
  const now = deps.clock.now()
  const record: RefreshToken = {
    token_hash: sha256(refresh_token),
    app_id: app.id,
    workspace_id,
    installation_id,
    grant_id: grant.id,
    created_at: now,
    expires_at: now + LIMITS.refreshTokenLife,
  }
  const response: TokenResponse = {
    access_token: token,
    token_type: 'Bearer',
    expires_in,
    refresh_token,
    scope: intersect(grant.scopes, installation.scopes).join(' '),
    installation_id,
    workspace_id,
  }
  return { response, record, writes: [RefreshTokenEntity.create(record)] }
}

/**
 * Makes a pair valid together with the end of what it was exchanged for. When the store's answer is lost, the new refresh
 * token's record says whether the write was done: then the pair goes out all the same. An error would make the client
 * present the old code or token again, which revokes the chain.
 */
export const commitPair = async (
  work: Work,
  { response, record, writes }: TokenPair,
  exchanged: readonly Write[],
): Promise<TokenResponse> => {
  try {
    await work.commit([...exchanged, ...writes], response)
  } catch (error) {
    const { token_hash } = record
    if (!(await work.table.get(RefreshTokenEntity, { token_hash }).catch(() => undefined))) throw error
  }
  return response
}
