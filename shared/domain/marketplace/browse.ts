import { type ListedApp, ListedAppEntity, ListingPlaceEntity } from '../../entities/apps.ts'
import type { Category } from '../../kernel/categories.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import type { Deps } from '../deps.ts'
import { type Sort, shelfOf } from './places.ts'
import { wordShelf, wordsOf } from './words.ts'

type Reading = Pick<Deps, 'table'>
type Paging = Pick<QueryOptions, 'limit' | 'after'>

/** Words of a search that count. */
const MOST_WORDS = 6
/** Places looked at for one page of a search: it bounds what words cost that many apps share but few have together. */
const MOST_SEEN = 400
const AT_ONCE = 100

/** A page of the marketplace: one query of a shelf and one batch of what stands there. */
export const browse = async (
  { table }: Reading,
  { category, sort }: { category?: Category | undefined; sort: Sort },
  options: Paging,
): Promise<Page<ListedApp>> => {
  const shelf = shelfOf(category, sort)
  const page = await table.query(ListingPlaceEntity, { shelf }, { ...options, ascending: true })
  return { items: (await load(table, page.items)).filter((one) => one !== undefined), next: page.next }
}

/**
 * Listed apps that have a word of each beginning. The longest beginning, which fewest words have, is looked up; what else is
 * asked for is read from the apps found so. An app with several such words stands there once for each: only its first
 * counts. A page may hold fewer than its limit, and the last one may be empty.
 */
export const search = async (
  { table }: Reading,
  { q, category }: { q: string; category?: Category | undefined },
  { limit, after }: Paging,
): Promise<Page<ListedApp>> => {
  const asked = wordsOf(q)
    .slice(0, MOST_WORDS)
    .sort((one, other) => other.length - one.length)
  const [longest] = asked
  if (longest === undefined) return { items: [], next: undefined }
  const fits = ({ words = [], category: itsOwn }: ListedApp, place: string): boolean =>
    place.startsWith(`${words.find((word) => word.startsWith(longest))}#`) &&
    asked.every((beginning) => words.some((word) => word.startsWith(beginning))) &&
    (category === undefined || category === itsOwn)
  const range = { from: `AT#${longest}`, to: `AT#${longest}\u{10FFFF}`, ascending: true }
  const items: ListedApp[] = []
  let at = after
  for (let seen = 0; seen < MOST_SEEN; seen += AT_ONCE) {
    const page = await table.query(
      ListingPlaceEntity,
      { shelf: wordShelf(longest) },
      { ...range, limit: AT_ONCE, after: at },
    )
    const listed = await load(table, page.items)
    for (const [i, place] of page.items.entries()) {
      const one = listed[i]
      at = ListingPlaceEntity.key(place).sk
      if (one && fits(one, place.place)) items.push(one)
      if (items.length < limit) continue
      const more = i < page.items.length - 1 || page.next !== undefined
      return { items, next: more ? at : undefined }
    }
    if (page.next === undefined) return { items, next: undefined }
  }
  return { items, next: at }
}

const load = async (table: Reading['table'], places: readonly { app_id: string }[]) =>
  (await table.getAll(
    places.map(({ app_id }) => ({ entity: ListedAppEntity, key: ListedAppEntity.key({ app_id }) })),
  )) as (ListedApp | undefined)[]
