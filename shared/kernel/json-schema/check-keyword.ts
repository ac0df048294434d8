import { isAcceptedKey, MAX_KEY } from './bounds.ts'
import { type Findings, quoteName } from './finding.ts'
import { CHECKED_FORMATS, dialectOfUri, isType, type KeywordKind, TYPES, UNCHECKED_HINTS } from './keywords.ts'
import { analyzePattern } from './pattern.ts'

export interface Check {
  errors: Findings
  warnings: Findings
  /** Patterns that may still be analyzed. A hostile pattern takes about 20 ms. */
  patternsLeft: number
}

/** Kinds whose values don't contain a schema. */
type Simple = Exclude<
  KeywordKind,
  'schema' | 'schemas' | 'schemaList' | 'items' | 'patterns' | 'dependencies' | 'reference' | 'id'
>

const MAX_TEXT = 4_000
const MAX_VALUES = 500

const allDifferent = (values: readonly unknown[]): boolean => new Set(values).size === values.length

/** Test of each plain kind, with the noun phrase that its error and fix use. */
const KINDS: Record<
  Exclude<Simple, 'pattern' | 'format' | 'any' | 'unchecked'>,
  [(value: unknown) => boolean, string]
> = {
  text: [
    (value) => typeof value === 'string' && value.length <= MAX_TEXT,
    `a string of at most ${MAX_TEXT} characters`,
  ],
  flag: [(value) => typeof value === 'boolean', 'true or false'],
  number: [(value) => typeof value === 'number' && Number.isFinite(value), 'a number'],
  positive: [(value) => typeof value === 'number' && Number.isFinite(value) && value > 0, 'a number greater than 0'],
  count: [(value) => Number.isSafeInteger(value) && (value as number) >= 0, 'an integer of 0 or more'],
  values: [
    (value) => Array.isArray(value) && value.length > 0 && value.length <= MAX_VALUES,
    `a list of 1 to ${MAX_VALUES} values`,
  ],
  names: [
    (value) =>
      Array.isArray(value) &&
      value.length <= MAX_VALUES &&
      value.every((name) => typeof name === 'string' && isAcceptedKey(name)) &&
      allDifferent(value),
    `a list of at most ${MAX_VALUES} different property names of at most ${MAX_KEY} characters, none of them __proto__`,
  ],
  types: [
    (value) =>
      isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType) && allDifferent(value)),
    `one of ${TYPES.join(', ')}, or a list of them`,
  ],
  dialect: [
    (value) => dialectOfUri(value) !== undefined,
    'the URI of draft 2020-12, 2019-09 or draft-07, such as "https://json-schema.org/draft/2020-12/schema"',
  ],
}

/** Checks a regular expression, which a value or the name of a property is matched with. */
export const checkPattern = (check: Check, value: unknown, path: string): void => {
  check.patternsLeft -= 1
  if (typeof value !== 'string')
    check.errors.add(path, 'pattern must be a string.', 'Use a regular expression, such as "^[a-z]+$".')
  else if (check.patternsLeft < 0)
    check.errors.add(path, 'The manifest has too many patterns.', 'Use fewer patterns. Try enum, format or maxLength.')
  else {
    const verdict = analyzePattern(value)
    if ('refused' in verdict)
      check.errors.add(
        path,
        `The pattern ${quoteName(value)} is not accepted: ${verdict.refused}.`,
        'Anchor it with ^ and $, make sure no two adjacent repeats match the same characters, or use format, enum or maxLength instead.',
      )
  }
}

const checkFormat = (check: Check, value: unknown, path: string): void => {
  if (typeof value !== 'string' || value.length > 64)
    check.errors.add(path, 'format must be a short string.', `Use one of ${CHECKED_FORMATS.join(', ')}.`)
  else if (!(CHECKED_FORMATS as readonly string[]).includes(value))
    check.warnings.add(
      path,
      `The format ${quoteName(value)} is not checked.`,
      `Use one of ${CHECKED_FORMATS.join(', ')}.`,
    )
}

/** Checks the value of a keyword that doesn't contain a schema. */
export const checkSimpleKeyword = (check: Check, keyword: string, kind: Simple, value: unknown, path: string): void => {
  if (kind === 'pattern') checkPattern(check, value, path)
  else if (kind === 'unchecked')
    check.warnings.add(path, `${keyword} is not checked.`, UNCHECKED_HINTS[keyword] ?? 'Say it in description.')
  else if (kind === 'format') checkFormat(check, value, path)
  else if (kind !== 'any') {
    const [isValid, expected] = KINDS[kind]
    if (!isValid(value)) check.errors.add(path, `${keyword} must be ${expected}.`, `Use ${expected}.`)
  }
}
