import {
  type ListedApp,
  ListedAppEntity,
  ListingPlaceEntity,
  type Sort,
  shelfOf,
  wordShelf,
  wordsOf,
} from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Category } from '#shared/kernel/categories.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'

type Reading = Pick<Deps, 'table'>

type Paging = Pick<QueryOptions, 'limit' | 'after'>

/** Most words of a search that count. */
const MOST_WORDS = 6

/** Most places read for one page of a search. It bounds the cost of words that many apps share but few combine. */
const MOST_SEEN = 400
const AT_ONCE = 100

/** Lists a page of the marketplace: one query of a shelf and one batch of its apps. */
export const browseMarketplace = async (
  { table }: Reading,
  { category, sort }: { category?: Category | undefined; sort: Sort },
  options: Paging,
): Promise<Page<ListedApp>> => {
  const shelf = shelfOf(category, sort)
  const page = await table.query(ListingPlaceEntity, { shelf }, { ...options, ascending: true })
  return { items: (await load(table, page.items)).filter((app) => app !== undefined), next: page.next }
}

/**
 * Searches for listed apps with a word for each prefix. It queries the longest prefix, which matches the fewest words, and
 * filters the apps found by the rest. An app with several matching words appears once for each, and only the first
 * counts. A page may hold fewer apps than its limit, and the last one may be empty.
 */
export const searchMarketplace = async (
  { table }: Reading,
  { q, category }: { q: string; category?: Category | undefined },
  { limit, after }: Paging,
): Promise<Page<ListedApp>> => {
  const prefixes = wordsOf(q)
    .slice(0, MOST_WORDS)
    .sort((a, b) => b.length - a.length)
  const [longest] = prefixes
  if (longest === undefined) return { items: [], next: undefined }
  const matches = ({ words = [], category: appCategory }: ListedApp, place: string): boolean =>
    place.startsWith(`${words.find((word) => word.startsWith(longest))}#`) &&
    prefixes.every((prefix) => words.some((word) => word.startsWith(prefix))) &&
    (category === undefined || category === appCategory)
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
      const app = listed[i]
      at = ListingPlaceEntity.key(place).sk
      if (app && matches(app, place.place)) items.push(app)
      if (items.length < limit) continue
      const more = i < page.items.length - 1 || page.next !== undefined
      return { items, next: more ? at : undefined }
    }
    if (page.next === undefined) return { items, next: undefined }
  }
  return { items, next: at }
}

const load = async (table: Reading['table'], places: readonly { app_id: string }[]) =>
  await table.getAll(places.map(({ app_id }) => ListedAppEntity.ref({ app_id })))
