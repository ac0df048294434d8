import type { Options } from 'minisearch'

/** Part of a page that was found. */
export interface FoundPart {
  /** Address below the platform's base address. */
  id: string
  /** Title of the page. */
  page: string
  title: string
  /** Beginning of the text. */
  lead: string
}

/** Splits names such as `run.execute`, `error_code` and `startRun` into words, and keeps the whole name as well. */
const wordsOf = (text: string): string[] =>
  text.split(/[^\p{L}\p{N}._-]+/u).flatMap((name) => {
    const whole = name.replaceAll(/^[._-]+|[._-]+$/g, '')
    if (whole === '') return []
    const words = whole.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').split(/[ ._-]+/)
    return words.length > 1 ? [whole, ...words] : [whole]
  })

/** Words of questions, which say nothing about what is looked for. */
const STOP_WORDS = new Set(
  'a an and are be can could do does for from how i if in is it its me my of on or should the there to what when where which who why with you your'.split(
    ' ',
  ),
)

export const isStopWord = (word: string): boolean => STOP_WORDS.has(word.toLowerCase())

/** Options that the build and the pages' script share. An index is read with the options that it was built with. */
export const SEARCH_OPTIONS: Options = {
  fields: ['title', 'page', 'text'],
  storeFields: ['page', 'title', 'lead'],
  tokenize: wordsOf,
  processTerm: (term) => (isStopWord(term) ? null : term.toLowerCase()),
  searchOptions: {
    boost: { title: 4, page: 2 },
    prefix: (term) => term.length > 1,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    combineWith: 'AND',
    boostDocument: (id: string) => (id.includes('#schema/') ? 0.2 : id.startsWith('docs/reference') ? 0.8 : 1),
  },
}
