import { AppEntity, isOnLookShelf, ListedAppEntity, listingWrites, readListing } from '#shared/catalogue/apps/index.ts'
import type { Upgrade } from './upgrade.ts'

/** Adds shelf entries by look to listed apps, so that reviews find names that are confusable with theirs. */
export const listByLook: Upgrade<typeof ListedAppEntity> = {
  id: '0003-similar-names',
  title: 'lets reviews find names that are confusable with those of apps listed before',
  entity: ListedAppEntity,
  async writes(item, { table }) {
    if (isOnLookShelf(item)) return []
    const app = await table.get(AppEntity, { id: item.app_id })
    if (app?.status !== 'approved') return []
    const { listed, developerName } = await readListing({ table }, app)
    if (listed === undefined || isOnLookShelf(listed)) return []
    const { listed_at, featured_at } = listed
    return listingWrites(listed, { app, developerName, listed_at, featured_at })
  },
}
