import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { logoFetchWrites } from '#shared/catalogue/logos/index.ts'
import type { Upgrade } from './upgrade.ts'

/** Has the logos fetched that pages loaded from their developers' servers before. */
export const fetchEarlierLogos: Upgrade<typeof AppEntity> = {
  id: '0006-logos',
  title: 'fetches the logos of apps, which the platform serves itself now',
  entity: AppEntity,
  async writes({ id, logo_url, logo }, work) {
    if (logo_url === undefined || logo !== undefined) return []
    return [AppEntity.check({ id }, { where: { logo_url } }), ...logoFetchWrites(work, id, { adopts: true })]
  },
}
