/**
 * Characters that draw nothing, or turn the text around them: with them an app's name could look like another's.
 * Joiners and variation selectors stay, which emoji and several scripts need.
 */
const DECEPTIVE =
  /(?!\p{Join_Control}|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|[\p{Cc}\u2028\u2029\u2800]/gu

/** One line of text from an app or a person, with what could deceive made visible. */
export const clean = (text: string): string => text.replace(DECEPTIVE, '\ufffd')

/** An address that a link may lead to; undefined for `javascript:` and the like. */
export const webAddress = (text: string | null | undefined): string | undefined => {
  try {
    return text && /^https?:$/.test(new URL(text).protocol) ? text : undefined
  } catch {
    return undefined
  }
}
