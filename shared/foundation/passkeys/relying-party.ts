import type { Settings } from '#shared/kernel/settings.ts'

/** Site that passkeys belong to. Browsers offer a passkey to no other. */
export interface RelyingParty {
  /** Host name. */
  id: string
  origin: string
  name: string
}

const LOOPBACK_ADDRESS = /^(127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Returns the relying party, which is the host of the base URL. Browsers refuse passkeys for IP addresses, so a platform
 * on a loopback address uses `localhost`.
 */
export const relyingParty = ({ baseUrl, brand }: Pick<Settings, 'baseUrl' | 'brand'>): RelyingParty => {
  const url = new URL(baseUrl)
  if (LOOPBACK_ADDRESS.test(url.hostname)) url.hostname = 'localhost'
  return { id: url.hostname, origin: url.origin, name: `${brand.name} (${url.hostname})` }
}
