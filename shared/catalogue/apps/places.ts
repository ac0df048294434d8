import { looksOf } from '#shared/kernel/looks.ts'
import type { App, ListedApp } from './entity.ts'
import { wordShelf, wordsOf } from './words.ts'

/** Sort orders of the marketplace. */
export const SORTS = ['featured', 'newest', 'name'] as const
export type Sort = (typeof SORTS)[number]

/**
 * Most search words per app. Together with its places in the sort orders, replacing all places of an app fits into one
 * transaction (100 items).
 */
const MAX_WORDS = 34

export const shelfOf = (category: string | undefined, sort: Sort): string =>
  `${category === undefined ? 'all' : `category:${category}`}:${sort}`

/** Returns the shelf of the listed apps whose names look alike. */
export const lookShelf = (look: string): string => `look:${look}`

/** Returns a sort value that orders newer times first. */
const newestFirst = (ms: number): string => String(9_999_999_999_999 - ms).padStart(13, '0')

/** Source data of an app's listing. */
export interface Listing {
  app: Pick<App, 'id' | 'slug' | 'name' | 'summary' | 'category'>
  developerName: string
  listed_at: number
  featured_at: number | undefined
}

/** Returns the record of a listing with its search words and its place on each shelf. */
export const listedAppOf = async (
  { app, developerName, listed_at, featured_at }: Listing,
  revision: number,
): Promise<ListedApp> => {
  const { id, name, slug, summary, category } = app
  // Words of the name come before those of the summary, in case there are too many words.
  const words = wordsOf([name, slug, developerName, category ?? '', summary].join(' '))
    .slice(0, MAX_WORDS)
    .sort()
  const rank = `${featured_at === undefined ? 1 : 0}#${newestFirst(featured_at ?? listed_at)}#${id}`
  const order: Record<Sort, string> = {
    featured: rank,
    newest: `${newestFirst(listed_at)}#${id}`,
    name: `${wordsOf(name).join(' ')}#${id}`,
  }
  const shelves = category === undefined ? [undefined] : [undefined, category]
  return {
    app_id: id,
    listed_at,
    featured_at,
    category,
    words,
    revision,
    places: [
      ...shelves.flatMap((shelf) => SORTS.map((sort) => ({ shelf: shelfOf(shelf, sort), place: order[sort] }))),
      // The whole word sorts before words that only start with it. For the same word, featured apps come first.
      ...words.map((word) => ({ shelf: wordShelf(word), place: `${word}#${rank}` })),
      ...(await looksOf(name)).map((look) => ({ shelf: lookShelf(look), place: id })),
    ],
  }
}
