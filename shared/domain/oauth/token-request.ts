import * as z from 'zod'
import type { App } from '../../entities/apps.ts'
import { fail } from '../../kernel/errors.ts'
import type { Work } from '../deps.ts'
import { redeemCode } from './redeem.ts'
import { refresh } from './refresh.ts'
import type { TokenResponse } from './token-pair.ts'

/** A parameter that is no text counts as missing, so that the answer is the RFC's `invalid_request`. */
const parameter = (description: string) => z.string().optional().catch(undefined).meta({ description })

/** Body of the token endpoints (specification "Token request fields"). Unknown parameters are ignored (RFC 6749 §3.2). */
export const TokenRequest = () =>
  z
    .object({
      grant_type: parameter('`authorization_code` or `refresh_token`.'),
      client_id: parameter('The app’s id.'),
      client_secret: parameter('The app’s current secret.'),
      code: parameter('The code that came back to redirect_uri; for `authorization_code`.'),
      code_verifier: parameter(
        'The secret half of the PKCE pair: 43 to 128 of `A-Z a-z 0-9 - . _ ~`; for `authorization_code`.',
      ),
      redirect_uri: parameter('As in the authorize request; may be left out while the app has exactly one address.'),
      refresh_token: parameter('The newest one; for `refresh_token`.'),
    })
    .meta({ id: 'TokenRequest' })

export type TokenRequestInput = z.infer<ReturnType<typeof TokenRequest>>

/**
 * `POST /oauth/token`, for a client that has identified itself. Checks `grant_type`, then what is missing, then the code
 * or token (decisions §2).
 * @throws `invalid_request`, `unsupported_grant_type`, `invalid_grant`, `app_suspended`, `installation_suspended`
 */
export const answerTokenRequest = async (work: Work, app: App, input: TokenRequestInput): Promise<TokenResponse> => {
  const grantType = need(input, 'grant_type')
  switch (grantType) {
    case 'authorization_code':
      return redeemCode(work, app, {
        code: need(input, 'code'),
        code_verifier: need(input, 'code_verifier'),
        redirect_uri: input.redirect_uri || undefined,
      })
    case 'refresh_token':
      return refresh(work, app, need(input, 'refresh_token'))
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
      fix: `Send ${name} as a body field, with a value.`,
    })
  return value
}
