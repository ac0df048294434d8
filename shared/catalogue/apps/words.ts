/** Most characters of a word that are indexed. */
const MAX_CHARACTERS = 40

/**
 * Splits a text into unique words for indexing and search: lower case, without accents, in order of appearance. Follows
 * Unicode's rules (UAX #29), which also cover languages without spaces between words.
 */
export const wordsOf = (text: string): string[] => {
  const folded = text.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFC')
  const words = [...new Intl.Segmenter('en', { granularity: 'word' }).segment(folded)]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => [...segment].slice(0, MAX_CHARACTERS).join(''))
  return [...new Set(words)]
}

/** Returns the partition that holds all words with the same first character, in alphabetical order. */
export const wordShelf = (word: string): string => `word:${[...word][0]}`
