import type { Scope } from './scopes.ts'
import type { Settings } from './settings.ts'

/** Scopes that a host gets if it requests none (contract/connect.md#scopes-of-hosts). */
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

/** Scopes that a host gets only if it requests them, such as after a step-up challenge. */
export const STEP_UP_SCOPES = ['chat:write', 'files:write'] as const satisfies readonly Scope[]

/** Path of the resource of hosts that request none (RFC 8707). */
export const DEFAULT_RESOURCE = '/mcp'

/** Reports whether a client id is a host's: the address of its document, or that of a registration. */
export const isHostClientId = (id: unknown): id is string =>
  typeof id === 'string' && (/^https?:\/\//.test(id) || id.startsWith('mcpc_'))

const RESOURCE = /^\/(?:mcp|a2a|mcp\/agents\/[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?)$/

/** Returns the paths of the resources whose tokens work at a path: itself and everything above it. */
export const acceptedAt = (path: string): string[] => {
  const parts = path.split('/').slice(1)
  return parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`).filter((candidate) => RESOURCE.test(candidate))
}

/** Returns the path of the resource that a request is about, for challenges. All agents over A2A are one resource. */
const resourceOf = (path: string): string => (path.startsWith('/a2a/') ? '/a2a' : path)

/** Returns the path of the resource with this address (RFC 8707), or undefined if hosts have no such resource. */
export const findResource = ({ baseUrl }: Pick<Settings, 'baseUrl'>, address: string): string | undefined => {
  const path = address.startsWith(`${baseUrl}/`) ? address.slice(baseUrl.length) : ''
  return RESOURCE.test(path) ? path : undefined
}

/**
 * Returns the path of the resource that a host asks for by its addresses, which spaces separate: the one whose token works at all of
 * them. A slash at the end is ignored. The bare origin is the default, because a host that knows two resources of one origin may ask
 * for that. Undefined if there is no such resource.
 */
export const findRequestedResource = (settings: Pick<Settings, 'baseUrl'>, addresses: string): string | undefined => {
  const paths = addresses.split(' ').map((address) => {
    const plain = address.replace(/\/$/, '')
    return plain === settings.baseUrl ? DEFAULT_RESOURCE : findResource(settings, plain)
  })
  return paths.find((path) => path && paths.every((other = '') => acceptedAt(other).includes(path)))
}

const metadataUrl = (baseUrl: string, path: string): string =>
  `${baseUrl}/.well-known/oauth-protected-resource${resourceOf(path)}`

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
  resource_metadata: metadataUrl(baseUrl, path),
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
  resource_metadata: metadataUrl(baseUrl, path),
})
