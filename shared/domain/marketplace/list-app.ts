import { type App, type ListedApp, ListedAppEntity, ListingPlaceEntity } from '../../entities/apps.ts'
import { DeveloperEntity } from '../../entities/developers.ts'
import type { Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { Deps } from '../deps.ts'
import { type Listing, placed } from './places.ts'

/**
 * The marketplace keeps each listed app on shelves: one for each order of browsing, over all apps and over its category,
 * and one place for each word that it is found by. All of them move in the transaction that lists, changes or unlists the
 * app, so that a page of the marketplace is one query, whatever the number of apps, and never shows what is not listed.
 */

/** An app's listing as it is, and the name that its developer is shown by. */
export const readListing = async (
  { table }: Pick<Deps, 'table'>,
  { id, developer_id }: Pick<App, 'id' | 'developer_id'>,
): Promise<{ listed: ListedApp | undefined; developerName: string }> => {
  const [listed, developer] = await table.getAll([
    { entity: ListedAppEntity, key: ListedAppEntity.key({ app_id: id }) },
    { entity: DeveloperEntity, key: DeveloperEntity.key({ id: developer_id }) },
  ] as const)
  return { listed, developerName: developer?.company ?? developer?.name ?? '' }
}

/**
 * The writes that list an app, or bring its listing up to date.
 * @param was what {@link readListing} read
 * @param otherwise what is thrown when the listing changed meanwhile; default `ConditionFailed`
 */
export const listingWrites = (was: ListedApp | undefined, next: Listing, otherwise?: () => unknown): Write[] => {
  const listed = placed(next)
  const before = new Set(was?.places?.map(keyOf))
  const after = new Set(listed.places?.map(keyOf))
  return [
    ListedAppEntity.replace(
      { ...listed, revision: (was?.revision ?? 0) + 1 },
      {
        where: was ? { listed_at: was.listed_at, revision: was.revision ?? missing } : { listed_at: missing },
        otherwise,
      },
    ),
    ...(was?.places ?? []).filter((at) => !after.has(keyOf(at))).map((at) => ListingPlaceEntity.delete(at)),
    ...(listed.places ?? [])
      .filter((at) => !before.has(keyOf(at)))
      .map((at) => ListingPlaceEntity.replace({ ...at, app_id: listed.app_id })),
  ]
}

/** The writes that take an app out of the marketplace. `was` and `otherwise` as above. */
export const unlistingWrites = (was: ListedApp | undefined, otherwise?: () => unknown): Write[] =>
  was
    ? [
        ListedAppEntity.delete(was, {
          where: { listed_at: was.listed_at, revision: was.revision ?? missing },
          otherwise,
        }),
        ...(was.places ?? []).map((at) => ListingPlaceEntity.delete(at)),
      ]
    : []

const keyOf = ({ shelf, place }: { shelf: string; place: string }): string => `${shelf}\n${place}`
