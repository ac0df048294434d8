import type { Scope } from '#shared/kernel/scopes.ts'
import type { Settings } from '#shared/kernel/settings.ts'

/** Scopes that a host gets if it requests none (protocols: challenges). */
export const HOST_SCOPES = [
  'workspace:read',
  'agents:read',
  'runs:read',
  'runs:write',
  'tasks:read',
  'tasks:write',
  'chat:read',
  'files:read',
] as const satisfies readonly Scope[]

const RESOURCE = /^\/(?:mcp|a2a|mcp\/agents\/[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?)$/

/** Returns the paths of the resources whose tokens work at a path: itself and everything above it. */
export const acceptedAt = (path: string): string[] => {
  const parts = path.split('/').slice(1)
  return parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`).filter((candidate) => RESOURCE.test(candidate))
}

/**
 * Returns the parameters of the challenge of a 401 at a host's resource (RFC 6750 §3, RFC 9728 §5.1).
 * @param tokenSent true if the request had a token, which is then the one that is invalid
 */
export const signInChallenge = (
  { baseUrl }: Pick<Settings, 'baseUrl'>,
  path: string,
  tokenSent: boolean,
): Record<string, string> => ({
  ...(tokenSent && { error: 'invalid_token' }),
  resource_metadata: `${baseUrl}/.well-known/oauth-protected-resource${path}`,
  scope: HOST_SCOPES.join(' '),
})

/**
 * Returns the parameters of the challenge of a 403 for missing scopes, by which a host requests them in a new consent.
 * @param needed every scope that the call needs, those that the token has included
 */
export const stepUpChallenge = (
  { baseUrl }: Pick<Settings, 'baseUrl'>,
  path: string,
  needed: readonly Scope[],
): Record<string, string> => ({
  error: 'insufficient_scope',
  scope: needed.join(' '),
  resource_metadata: `${baseUrl}/.well-known/oauth-protected-resource${path}`,
})
