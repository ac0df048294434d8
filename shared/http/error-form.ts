import type { Route } from './route.ts'

/**
 * Form of an endpoint's errors: the platform's own body, that of RFC 6749, a JSON-RPC error, `google.rpc.Status`, or the
 * error body of A2A 0.3. Renderer and OpenAPI document go by it.
 */
export type ErrorForm = 'platform' | 'oauth' | 'mcp' | 'a2a-rpc' | 'a2a' | 'a2a-0.3'

export const errorFormOf = ({
  standard,
  speaks,
  consumes,
}: Pick<Route, 'standard' | 'speaks' | 'consumes'>): ErrorForm => {
  if (standard) return 'oauth'
  const isRpc = consumes === 'json-rpc'
  if (speaks) return isRpc ? 'a2a-rpc' : speaks
  return isRpc ? 'mcp' : 'platform'
}
