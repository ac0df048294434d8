import type { Deps } from '#shared/foundation/work/index.ts'
import { loadVendorHolder } from '#shared/identity/developer-accounts/index.ts'
import type { Developer } from '#shared/identity/developers/index.ts'
import type { Finding } from '#shared/kernel/json-schema/finding.ts'

export const vendorTaken = (vendor: string): Finding => ({
  path: '/id',
  message: `The vendor ${vendor} belongs to another developer, so agents can’t be published under its name.`,
  fix: 'Choose another vendor name.',
})

/**
 * Checks whether a developer's first publication may fix a vendor: another developer's can't be used, and where the deployment
 * requires it, neither can one that wasn't claimed. A typing error would otherwise fix the name forever.
 */
export const checkVendor = async (
  deps: Pick<Deps, 'table' | 'settings'>,
  developer: Developer,
  vendor: string,
): Promise<Finding | undefined> => {
  if (developer.vendor !== undefined) return undefined
  const holder = await loadVendorHolder(deps, vendor)
  if (holder !== undefined && holder !== developer.id) return vendorTaken(vendor)
  if (!deps.settings.developerProof) return undefined
  return {
    path: '/id',
    message: 'You have claimed no vendor name yet.',
    fix: `Claim it first: POST /api/v1/dev/me/vendor with {"vendor": "${vendor}"}. It can’t be changed later.`,
  }
}
