import type { Settings } from '#shared/kernel/settings.ts'

/** The second issuer, strictly by the RFCs; undefined is the platform's first (contract/connect.md#two-issuers). */
export type Issuer = 'connect' | undefined

/** Returns the identifier of an issuer (RFC 8414 §2). */
const issuerUrl = ({ baseUrl }: Pick<Settings, 'baseUrl'>, issuer: Issuer): string =>
  issuer === 'connect' ? `${baseUrl}/connect` : baseUrl

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
