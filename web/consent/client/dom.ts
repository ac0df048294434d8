export const $ = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T

/**
 * Characters that draw nothing, or turn the text around them: with them an app's name could look like another's.
 * Joiners and variation selectors stay, which emoji and several scripts need.
 */
const DECEPTIVE =
  /(?!\p{Join_Control}|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|[\p{Cc}\u2028\u2029\u2800]/gu

/** Text from an app or a person, with what could deceive made visible. */
export const clean = (text: string): string => text.replace(DECEPTIVE, '\ufffd')

/** Sets text from anywhere: never markup, and nothing that deceives. */
export const say = (id: string, text: string): void => {
  $(id).textContent = clean(text)
}

export const element = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  text = '',
): HTMLElementTagNameMap[K] => {
  const made = document.createElement(name)
  if (className) made.className = className
  made.textContent = clean(text)
  return made
}

let shown = 'wait'

/** Shows one part of the page and moves the focus to its heading, so that a screen reader begins there. */
export const show = (id: 'wait' | 'sign-in' | 'handed-over' | 'request' | 'over'): void => {
  for (const section of document.querySelectorAll('section')) section.hidden = section.id !== id
  if (shown === id) return
  shown = id
  $(id).querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
  scrollTo(0, 0)
}

/** An address that a link may lead to; undefined for `javascript:` and the like. */
export const webAddress = (text: string | null | undefined): string | undefined => {
  try {
    return text && /^https?:$/.test(new URL(text).protocol) ? text : undefined
  } catch {
    return undefined
  }
}
