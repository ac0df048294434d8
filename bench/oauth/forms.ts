import { createHash, randomBytes } from 'node:crypto'

/** What both sides grant. */
export const SCOPES = ['runs:read', 'runs:write'] as const
export const REDIRECT = 'https://client.example/callback'

/** A client that identifies itself in the body (client_secret_post). */
export interface Credentials {
  client_id: string
  client_secret: string
}

/** A verifier and its challenge (RFC 7636, S256). */
export const pkce = () => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString()

export const codeForm = (client: Credentials, code: string, verifier: string): string =>
  form({ grant_type: 'authorization_code', ...client, code, code_verifier: verifier, redirect_uri: REDIRECT })

export const refreshForm = (client: Credentials, token: string): string =>
  form({ grant_type: 'refresh_token', ...client, refresh_token: token })

export const introspectionForm = (client: Credentials, token: string): string => form({ ...client, token })
