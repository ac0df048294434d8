import type { Settings } from '../../kernel/settings.ts'

/**
 * An answer on the way back to the client (RFC 6749 §4.1.2), with `iss` (RFC 9207). The registered address is kept as it
 * is, its own query included; absent parameters are left out.
 */
export const redirectBack = (
  { baseUrl }: Pick<Settings, 'baseUrl'>,
  redirectUri: string,
  parameters: Record<string, string | undefined>,
): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...parameters, iss: baseUrl })) {
    if (value !== undefined) query.append(name, value)
  }
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}
