/** Written by the build. */
declare const PAGE_LANGUAGE: string | undefined

/** Language of this page's texts. */
export const language = typeof PAGE_LANGUAGE === 'string' ? PAGE_LANGUAGE : 'en'

const uncompiled = (): never => {
  throw new Error('Texts are compiled: build with web/messages/plugin.ts.')
}

/**
 * Returns a text in the page's language. The build replaces each call, so text, values and context are written in place.
 *
 * @param message English, in ICU syntax: `{name}`, `{n, plural, one {# run} other {# runs}}`
 * @param context tells texts apart that are the same in English only
 */
export const t: (message: string, values?: Readonly<Record<string, string | number>>, context?: string) => string =
  uncompiled

/** Element, text or number. Modules without elements import this one, too, so it knows no types of Preact. */
type Part = object | string | number | boolean | null | undefined

/** Returns a text with elements in it: `<link>the docs</link>` calls the value `link` with `the docs`. See {@link t}. */
export const rich: (
  message: string,
  values: Readonly<Record<string, Part | ((text: never) => unknown)>>,
  context?: string,
) => never[] = uncompiled

const rules = new Intl.PluralRules(language)
const numbers = new Intl.NumberFormat(language)

/** @public Returns the plural category of a number. Compiled messages call it. */
export const plural = (value: number): string => rules.select(value)

/** @public Formats the `#` of a plural. Compiled messages call it. */
export const number = (value: number): string => numbers.format(value)
