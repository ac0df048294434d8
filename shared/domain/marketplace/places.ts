import type { App, ListedApp } from '../../entities/apps.ts'
import { wordShelf, wordsOf } from './words.ts'

/** In what order the marketplace is browsed. */
export const SORTS = ['featured', 'newest', 'name'] as const
export type Sort = (typeof SORTS)[number]

/**
 * Words by which an app is found. With its places in the orders of browsing, an app's whole move from one set of places to
 * another then fits into one transaction (100 items).
 */
const MOST_WORDS = 36

export const shelfOf = (category: string | undefined, sort: Sort): string =>
  `${category === undefined ? 'all' : `category:${category}`}:${sort}`

/** Sorts what is newer before what is older. */
const newestFirst = (ms: number): string => String(9_999_999_999_999 - ms).padStart(13, '0')

/** What an app is listed with. */
export interface Listing {
  app: Pick<App, 'id' | 'slug' | 'name' | 'summary' | 'category'>
  developerName: string
  listed_at: number
  featured_at: number | undefined
}

/** Everything that follows from a listing: its words, and its place on each shelf. */
export const placed = ({ app, developerName, listed_at, featured_at }: Listing): ListedApp => {
  const { id, name, slug, summary, category } = app
  // What names it goes before what describes it, should there be too many words.
  const words = wordsOf([name, slug, developerName, category ?? '', summary].join(' '))
    .slice(0, MOST_WORDS)
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
    places: [
      ...shelves.flatMap((shelf) => SORTS.map((sort) => ({ shelf: shelfOf(shelf, sort), place: order[sort] }))),
      // The whole word before those that only begin like it; of the same word, what is featured first.
      ...words.map((word) => ({ shelf: wordShelf(word), place: `${word}#${rank}` })),
    ],
  }
}
