/** Characters of a word that count. */
const LONGEST = 40

/**
 * A text's words as they are kept and looked for: in lower case, without accents, each once, in their order. Languages
 * without blanks between words are split by Unicode's rules, too (UAX #29).
 */
export const wordsOf = (text: string): string[] => {
  const folded = text.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFC')
  const words = [...new Intl.Segmenter('en', { granularity: 'word' }).segment(folded)]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => [...segment].slice(0, LONGEST).join(''))
  return [...new Set(words)]
}

/** Where all words of this beginning are kept: on one shelf, in order of the alphabet. */
export const wordShelf = (word: string): string => `word:${[...word][0]}`
