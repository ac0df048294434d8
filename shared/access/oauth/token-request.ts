import * as z from 'zod'
import type { App } from '#shared/catalogue/apps/index.ts'
import type { Issuer } from '#shared/foundation/tokens/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { redeemCode } from './redeem.ts'
import { refreshTokens } from './refresh.ts'
import { refuseOtherResource } from './resource.ts'
import type { TokenResponse } from './token-pair.ts'

/** A parameter that isn't a string counts as missing, so that the error is the RFC's `invalid_request`. */
const parameter = (description: string) => z.string().optional().catch(undefined).meta({ description })

/**
 * Body of the token endpoints (contract/oauth-and-tokens.md#token-request). Unknown parameters are ignored (RFC 6749
 * §3.2).
 */
export const TokenRequest = () =>
  z
    .object({
      grant_type: parameter('`authorization_code` or `refresh_token`.'),
      client_id: parameter('The app’s id.'),
      client_secret: parameter('The app’s current secret.'),
      code: parameter('The code sent to redirect_uri. For `authorization_code`.'),
      code_verifier: parameter(
        'The secret half of the PKCE pair: 43 to 128 of `A-Z a-z 0-9 - . _ ~`. For `authorization_code`.',
      ),
      redirect_uri: parameter('As in the authorize request. Optional if the app has exactly one redirect address.'),
      refresh_token: parameter('The newest refresh token. For `refresh_token`.'),
      scope: parameter(
        'At `/connect/token`, for `refresh_token`: scopes of the access token, if it should have fewer. Ignored by `/oauth/token`.',
      ),
      resource: parameter(
        'Ignored by `/oauth/token`. At `/connect/token`: the address of `/api/v1`, or omitted. May repeat.',
      ),
    })
    .meta({ id: 'TokenRequest' })

export type TokenRequestInput = z.infer<ReturnType<typeof TokenRequest>>

/**
 * Handles `POST /oauth/token` for an authenticated client. Checks `grant_type`, then missing parameters, then the code or
 * token (contract/oauth-and-tokens.md#token-request).
 * @throws `invalid_request`, `unsupported_grant_type`, `invalid_grant`, `app_suspended`, `installation_suspended`
 */
export const handleTokenRequest = async (
  work: Work,
  app: App,
  input: TokenRequestInput,
  issuer?: Issuer,
): Promise<TokenResponse> => {
  if (issuer) refuseOtherResource(work.settings, input.resource)
  const grantType = need(input, 'grant_type')
  switch (grantType) {
    case 'authorization_code':
      return redeemCode(
        work,
        app,
        {
          code: need(input, 'code'),
          code_verifier: need(input, 'code_verifier'),
          redirect_uri: input.redirect_uri || undefined,
        },
        issuer,
      )
    case 'refresh_token':
      return refreshTokens(work, app, need(input, 'refresh_token'), { issuer, scope: issuer && input.scope })
    default:
      throw fail('unsupported_grant_type', { details: { received: grantType.slice(0, 100) } })
  }
}

/** A parameter without a value counts as missing (RFC 6749 §3.2). */
const need = (input: TokenRequestInput, name: keyof TokenRequestInput): string => {
  const value = input[name]
  if (!value)
    throw fail('invalid_request', {
      message: `${name} is missing.`,
      fix: `Send ${name} as a body field with a value.`,
    })
  return value
}
