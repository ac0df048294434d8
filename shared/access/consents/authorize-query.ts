import * as z from 'zod'

/**
 * Describes the parameters for the reference. The handler validates them in the order that the contract defines
 * (contract/oauth-and-tokens.md#authorization-request).
 */
export const AuthorizeQuery = () =>
  z.object({
    client_id: z.string().meta({ description: 'The app’s ID.', example: 'app_01kae5m1v8w6c3x9q2r7t4y0zn' }),
    redirect_uri: z.string().meta({
      description: 'One of the app’s registered addresses, character for character.',
      example: 'https://client.example.com/callback',
    }),
    response_type: z.literal('code'),
    code_challenge: z.string().meta({
      description: 'BASE64URL(SHA256(code_verifier)).',
      example: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    }),
    code_challenge_method: z.literal('S256'),
    response_mode: z
      .literal('query')
      .optional()
      .meta({ description: 'Way in which the response is returned. Always `query`.' }),
    scope: z
      .string()
      .optional()
      .meta({ description: 'Scopes separated by spaces. Default: all scopes that the app requests.' }),
    state: z
      .string()
      .max(4_096)
      .optional()
      .meta({ description: 'Returned unchanged. Compare it to detect forged responses.' }),
  })
