/**
 * Invisible characters and direction overrides, which could make one app's name look like another's. Joiners and
 * variation selectors are allowed because emoji and several scripts need them.
 */
const DECEPTIVE =
  /(?!\p{Join_Control}|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|[\p{Cc}\u2028\u2029\u2800]/gu

/** Replaces deceptive characters in a line of text from an app or a user. */
export const sanitize = (text: string): string => text.replace(DECEPTIVE, '\ufffd')

/**
 * Escapes deceptive characters as JSON does (`\\u202e`), so that a text can be read exactly as it is. Line breaks stay.
 */
export const visible = (text: string): string =>
  text.replace(DECEPTIVE, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()]
          .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`)
          .join(''),
  )

/** Parses the address of a page. Returns undefined for any other text, also for `javascript:` and the like. */
export const parseAddress = (text: string | null | undefined): URL | undefined => {
  try {
    const url = text ? new URL(text) : undefined
    return url && /^https?:$/.test(url.protocol) ? url : undefined
  } catch {
    return undefined
  }
}

/** Returns the URL if a link may use it. */
export const safeUrl = (text: string | null | undefined): string | undefined =>
  parseAddress(text) ? (text ?? undefined) : undefined
