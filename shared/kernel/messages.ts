import german from './messages/de.json' with { type: 'json' }

type Values = Readonly<Record<string, string | number>>

/**
 * Returns a text in a person's language.
 *
 * @param message English, in ICU syntax: `{name}`, `{n, plural, one {# run} other {# runs}}`
 * @param context tells texts apart that are the same in English only
 */
export type Translate = (message: string, values?: Values, context?: string) => string

/** Text that each reader gets in their own language: English in ICU syntax, and its values. */
export interface Message {
  text: string
  values?: Values | undefined
}

/** Declares a text that is stored, and translated when somebody reads it. */
export const msg = (text: string, values?: Values): Message => (values ? { text, values } : { text })

/** Text in parts, of which the platform's are translated for each reader and others stay as they are. */
export type Parts = readonly (Message | string)[]

/** Returns a text in a reader's language. @param locale BCP 47 */
export const textOf = (parts: Parts, locale: string): string => {
  const inLanguage = translator(locale)
  return parts.map((part) => (typeof part === 'string' ? part : inLanguage(part.text, part.values))).join('')
}

/** Texts by language and English text. English is in the sources. */
const CATALOGUES: Readonly<Record<string, Readonly<Record<string, string>>>> = { en: {}, de: german }

/** Returns the language in which a person gets texts: their own, or English. @param locale BCP 47 */
export const languageOf = (locale: string): string => {
  const [language = ''] = locale.toLowerCase().split('-')
  return Object.hasOwn(CATALOGUES, language) ? language : 'en'
}

/** Makes texts in a person's language. @param locale BCP 47 */
export const translator = (locale: string): Translate => {
  const language = languageOf(locale)
  const catalogue = CATALOGUES[language] ?? {}
  return (message, values = {}, context) =>
    fill(catalogue[context ? `${message} // ${context}` : message] ?? message, values, language)
}

/**
 * Picks the language of a page from a browser's preferences (RFC 9110 §12.5.4).
 *
 * @param accepted value of `Accept-Language`
 * @param languages those that the page exists in; the first is the default
 */
export const pickLanguage = (accepted: string | undefined, languages: readonly string[]): string => {
  const [first = 'en'] = languages
  const preferred = (accepted ?? '')
    .split(',', 20)
    .map((one) => {
      const [range = '', ...parameters] = one.toLowerCase().split(';')
      const weight = Number(/^\s*q=(.*)$/.exec(parameters.join())?.[1] ?? 1)
      return { range: range.trim(), weight }
    })
    .filter(({ range, weight }) => range !== '' && weight > 0)
    .sort((a, b) => b.weight - a.weight)
  for (const { range } of preferred) {
    const found = languages.find((one) => range === one.toLowerCase() || range.startsWith(`${one.toLowerCase()}-`))
    if (found) return found
    if (range === '*') return first
  }
  return first
}

/** Picks the language of texts for somebody who isn't known, from their browser's preferences. */
export const browserLanguage = ({
  'accept-language': accepted,
}: Readonly<Record<string, string | undefined>>): string => pickLanguage(accepted, Object.keys(CATALOGUES))

/** Fills a message: arguments, plurals and selects. Tests parse all messages with a complete ICU parser. */
const fill = (message: string, values: Values, language: string, count?: number): string => {
  let text = ''
  for (let at = 0; at < message.length; at++) {
    const sign = message[at]
    if (sign === '#' && count !== undefined) text += new Intl.NumberFormat(language).format(count)
    else if (sign !== '{') text += sign
    else {
      const end = closing(message, at)
      const [name = '', kind, ...rest] = message.slice(at + 1, end).split(',')
      const value = values[name.trim()] ?? ''
      if (kind === undefined) text += value
      else {
        const options = optionsOf(rest.join(','))
        const plural = kind.trim() === 'plural'
        const chosen =
          options[
            plural && `=${value}` in options ? `=${value}` : plural ? category(Number(value), language) : value
          ] ??
          options.other ??
          ''
        text += fill(chosen, values, language, plural ? Number(value) : count)
      }
      at = end
    }
  }
  return text
}

const category = (value: number, language: string): string => new Intl.PluralRules(language).select(value)

/** Returns the position of the brace that closes the one at `open`. */
const closing = (message: string, open: number): number => {
  let depth = 0
  for (let at = open; at < message.length; at++) {
    if (message[at] === '{') depth++
    if (message[at] === '}' && --depth === 0) return at
  }
  throw new Error(`a brace isn’t closed: ${message}`)
}

/** Reads `one {# run} other {# runs}`. */
const optionsOf = (text: string): Record<string, string> => {
  const options: Record<string, string> = {}
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf('{', at)
    if (open < 0) break
    const end = closing(text, open)
    options[text.slice(at, open).trim()] = text.slice(open + 1, end)
    at = end + 1
  }
  return options
}
