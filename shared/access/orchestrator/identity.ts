import type { FetchedLogo } from '#shared/catalogue/logos/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { PlatformIdentityEntity } from '#shared/staff/platform/index.ts'
import type { ItemOf } from '#shared/table/entity.ts'

/** Name, logo and policy of the orchestrator. */
export interface Identity {
  name: string
  logo_url: string | undefined
  logo?: FetchedLogo | undefined
  policy: string | undefined
}

/** Name of the orchestrator until a super-admin changes it. */
const DEFAULT_NAME = 'Orchestrator'

/** Key of the stored identity. */
export const identityKey = { name: 'pm-identity' } as const
export const identityRef = PlatformIdentityEntity.ref(identityKey)

export const identityFrom = (stored: ItemOf<typeof PlatformIdentityEntity> | undefined): Identity => ({
  name: stored?.display_name ?? DEFAULT_NAME,
  logo_url: stored?.logo_url,
  logo: stored?.logo,
  policy: stored?.policy,
})

export const loadIdentity = async ({ table }: Pick<Deps, 'table'>): Promise<Identity> =>
  identityFrom(await table.get(PlatformIdentityEntity, identityKey))
