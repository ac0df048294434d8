import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { type App, type ListedApp, ListedAppEntity, ListingPlaceEntity } from './entity.ts'
import { type Listing, listedAppOf } from './places.ts'

/**
 * The marketplace keeps each listed app on shelves: one per sort order, for all apps and for its category, and one per
 * search word. All places change in the transaction that lists, changes or unlists the app. So a page of the marketplace
 * is one query for any number of apps, and never shows an unlisted app.
 */

/** Loads an app's listing and its developer's display name. */
export const readListing = async (
  { table }: Pick<Deps, 'table'>,
  { id, developer_id }: Pick<App, 'id' | 'developer_id'>,
): Promise<{ listed: ListedApp | undefined; developerName: string }> => {
  const [listed, developer] = await table.getAll([
    ListedAppEntity.ref({ app_id: id }),
    DeveloperEntity.ref({ id: developer_id }),
  ] as const)
  return { listed, developerName: developer?.company ?? developer?.name ?? '' }
}

/**
 * Returns the writes that list an app or update its listing.
 * @param was the listing from {@link readListing}
 * @param otherwise returns the error if the listing has changed. Default: `ConditionFailed`.
 */
export const listingWrites = async (
  was: ListedApp | undefined,
  next: Listing,
  otherwise?: () => unknown,
): Promise<Write[]> => {
  const listed = await listedAppOf(next, (was?.revision ?? 0) + 1)
  const before = new Set(was?.places.map(keyOf))
  const after = new Set(listed.places.map(keyOf))
  const where = was ? { listed_at: was.listed_at, revision: was.revision } : { listed_at: missing }
  return [
    ListedAppEntity.replace(listed, { where, otherwise }),
    ...(was?.places ?? []).filter((at) => !after.has(keyOf(at))).map((at) => ListingPlaceEntity.delete(at)),
    ...listed.places
      .filter((at) => !before.has(keyOf(at)))
      .map((at) => ListingPlaceEntity.replace({ ...at, app_id: listed.app_id })),
  ]
}

/** Returns the writes that remove an app from the marketplace. Parameters are those of {@link listingWrites}. */
export const unlistingWrites = (was: ListedApp | undefined, otherwise?: () => unknown): Write[] =>
  was
    ? [
        ListedAppEntity.delete(was, {
          where: { listed_at: was.listed_at, revision: was.revision },
          otherwise,
        }),
        ...was.places.map((at) => ListingPlaceEntity.delete(at)),
      ]
    : []

const keyOf = ({ shelf, place }: { shelf: string; place: string }): string => `${shelf}\n${place}`
