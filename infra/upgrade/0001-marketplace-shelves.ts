import { listingWrites, readListing } from '#shared/domain/marketplace/list-app.ts'
import { AppEntity, ListedAppEntity } from '#shared/entities/apps.ts'
import type { Upgrade } from './upgrades.ts'

/** Apps that were listed before the marketplace had shelves stand on none, so nobody finds them until their next change. */
export const listOnShelves: Upgrade<typeof ListedAppEntity> = {
  id: '0001-marketplace-shelves',
  title: 'puts apps that were listed before the marketplace had shelves onto them',
  entity: ListedAppEntity,
  async writes({ app_id, places }, { table }) {
    if (places !== undefined) return []
    const app = await table.get(AppEntity, { id: app_id })
    if (app?.status !== 'approved') return []
    const { listed, developerName } = await readListing({ table }, app)
    if (listed === undefined || listed.places !== undefined) return []
    const { listed_at, featured_at } = listed
    return listingWrites(listed, { app, developerName, listed_at, featured_at })
  },
}
