import * as z from 'zod'
import type { App } from '#shared/catalogue/apps/index.ts'
import { idField } from '#shared/foundation/schemas/index.ts'
import { type Issuer, issueToken } from '#shared/foundation/tokens/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { intersect, type Scope } from '#shared/kernel/scopes.ts'
import { newSecretOf, sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Grant, type RefreshToken, RefreshTokenEntity } from '../grants/entity.ts'
import type { Installation } from '../installations/entity.ts'

/** The token response (contract/oauth-and-tokens.md#token-request). */
export const TokenResponseSchema = () =>
  z
    .object({
      access_token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int().meta({ description: 'Lifetime in seconds.', example: 7_200 }),
      refresh_token: z.string().meta({ description: 'Replaced by every refresh. Keep the newest.', example: 'rft_…' }),
      scope: z.string().meta({ description: 'Granted scopes, separated by spaces.', example: 'runs:read runs:write' }),
      installation_id: idField('ins'),
      workspace_id: idField('ws'),
    })
    .meta({ id: 'TokenResponse' })

export type TokenResponse = z.infer<ReturnType<typeof TokenResponseSchema>>

interface TokenPair {
  response: TokenResponse
  record: RefreshToken
  /** Writes that make the refresh token valid. The table stores only its hash. */
  writes: Write[]
}

/**
 * Creates an access token and its refresh token. They are valid once {@link commitPair} has written them.
 * @param options.scopes of the access token, if it gets fewer than the grant has
 */
export const newTokenPair = async (
  deps: Pick<Deps, 'clock' | 'settings' | 'keys'>,
  app: Pick<App, 'id' | 'secret_version'>,
  installation: Pick<Installation, 'id' | 'workspace_id' | 'scopes'>,
  grant: Pick<Grant, 'id' | 'scopes'>,
  { issuer, scopes }: { issuer?: Issuer; scopes?: readonly Scope[] | undefined } = {},
): Promise<TokenPair> => {
  const { id: installation_id, workspace_id } = installation
  const claims = {
    ins: installation_id,
    ws: workspace_id,
    app: app.id,
    grt: grant.id,
    sv: app.secret_version,
    ...(scopes && { scp: scopes.join(' ') }),
  }
  const { token, expires_in } = await issueToken(deps, 'access', claims, { issuer })
  const refresh_token = newSecretOf('rft', workspace_id)
  const now = deps.clock.now()
  const record: RefreshToken = {
    token_hash: sha256(refresh_token),
    app_id: app.id,
    workspace_id,
    installation_id,
    grant_id: grant.id,
    ...(issuer && { issuer }),
    created_at: now,
    expires_at: now + LIMITS.refreshTokenLife,
  }
  const response: TokenResponse = {
    access_token: token,
    token_type: 'Bearer',
    expires_in,
    refresh_token,
    scope: intersect(scopes ?? grant.scopes, installation.scopes).join(' '),
    installation_id,
    workspace_id,
  }
  return { response, record, writes: [RefreshTokenEntity.create(record)] }
}

/**
 * Makes a pair valid in the same transaction that ends the code or token exchanged for it. If the store's response is
 * lost, the record of the new refresh token shows if the write succeeded, and then the pair is returned anyway. After an
 * error the client would present the old code or token again, which revokes the chain.
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
