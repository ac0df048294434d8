import { AppEntity, ListedAppEntity, listingWrites, readListing } from '#shared/catalogue/apps/index.ts'
import type { Upgrade } from './upgrade.ts'

/** Adds shelf entries to apps that were listed before the marketplace had shelves. Without one, people can't find the app. */
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
