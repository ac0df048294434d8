import { type Issuer, issuerUrl } from '#shared/foundation/tokens/index.ts'
import type { Settings } from '#shared/kernel/settings.ts'

/**
 * Returns the address of a response to the client (RFC 6749 §4.1.2), with `iss` (RFC 9207). The registered address and
 * its query are kept. Undefined parameters are omitted.
 */
export const redirectBack = (
  settings: Pick<Settings, 'baseUrl'>,
  redirectUri: string,
  parameters: Record<string, string | undefined>,
  issuer?: Issuer,
): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...parameters, iss: issuerUrl(settings, issuer) })) {
    if (value !== undefined) query.append(name, value)
  }
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}
