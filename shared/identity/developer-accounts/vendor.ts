import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { isPlaceholderVendor } from '#shared/kernel/vendor-names.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, missing, oneOf } from '#shared/table/expressions.ts'
import { type Developer, DeveloperEntity } from '../developers/entity.ts'
import { presentDeveloper } from './present.ts'
import { loadDeveloper } from './read.ts'
import type { DeveloperView } from './schemas.ts'

/** Returns the developer who holds a vendor name, if any. */
export const loadVendorHolder = async ({ table }: Pick<Deps, 'table'>, vendor: string): Promise<string | undefined> =>
  (await table.get(ClaimEntity, { kind: 'vendor', value: vendor }))?.owner_id

/**
 * Returns the writes that claim a vendor name for a developer who has none.
 * @param refused builds the error: `taken` by another developer, or `fixed` to another name by a concurrent request
 */
export const vendorWrites = (
  { id }: Pick<Developer, 'id'>,
  vendor: string,
  refused: (why: 'taken' | 'fixed', own?: string) => PlatformError,
): Write[] => [
  ClaimEntity.replace(
    { kind: 'vendor', value: vendor, owner_id: id },
    { where: { owner_id: either(missing, oneOf(id)) }, otherwise: () => refused('taken') },
  ),
  DeveloperEntity.update(
    { id },
    { set: { vendor } },
    {
      where: { vendor: either(missing, oneOf(vendor)) },
      otherwise: (current) => refused('fixed', current?.vendor),
    },
  ),
]

/**
 * Claims a developer's vendor name, the first part of their manifests' ids (`POST /api/v1/dev/me/vendor`). It can't be
 * changed later.
 * @throws `conflict` if another developer has the name, or the account has another one; `validation_error` for a placeholder
 */
export const claimVendor = async (work: Work, developerId: string, vendor: string): Promise<DeveloperView> => {
  const developer = await loadDeveloper(work, developerId)
  const refused = (why: 'taken' | 'fixed', own?: string): PlatformError =>
    why === 'taken'
      ? fail('conflict', {
          message: `The vendor name ${vendor} belongs to another developer.`,
          fix: 'Choose another name.',
        })
      : fail('conflict', {
          message: `Your vendor name is ${own ?? 'another one'}, and can’t be changed.`,
          fix: 'Use it as the first part of your manifests’ ids.',
        })
  if (developer.vendor !== undefined && developer.vendor !== vendor) throw refused('fixed', developer.vendor)
  const view = presentDeveloper({ ...developer, vendor })
  if (developer.vendor === vendor) return view
  if (isPlaceholderVendor(vendor)) {
    throw fail('validation_error', {
      message: `The vendor name ${vendor} is a placeholder.`,
      fix: 'Choose a name of your own. It can’t be changed later.',
      details: { fields: { vendor: ['is a placeholder'] } },
    })
  }
  await work.commit(
    [
      ...vendorWrites(developer, vendor, refused),
      auditDeveloper(work, developerId, 'developer.vendor_claimed', { type: 'developer', id: developerId }, { vendor }),
    ],
    view,
  )
  return view
}
