import { PlatformIdentityEntity } from '../../entities/platform.ts'
import type { ItemOf } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'

/** As whom the orchestrator speaks. */
export interface Identity {
  name: string
  logo_url: string | undefined
  policy: string | undefined
}

/** Its name until a super-admin gives it another. */
const USUAL_NAME = 'Orchestrator'

/** Where the identity is kept. */
export const identityKey = { name: 'pm-identity' } as const

export const identityRef = { entity: PlatformIdentityEntity, key: PlatformIdentityEntity.key(identityKey) } as const

export const identityIn = (kept: ItemOf<typeof PlatformIdentityEntity> | undefined): Identity => ({
  name: kept?.display_name ?? USUAL_NAME,
  logo_url: kept?.logo_url,
  policy: kept?.policy,
})

export const loadIdentity = async ({ table }: Pick<Deps, 'table'>): Promise<Identity> =>
  identityIn(await table.get(PlatformIdentityEntity, identityKey))
