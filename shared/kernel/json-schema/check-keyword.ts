import { type Findings, shown } from './finding.ts'
import { CHECKED_FORMATS, isDialect, type KeywordKind, REFUSED_FORMATS, TYPES } from './keywords.ts'
import { judgePattern } from './pattern.ts'

export interface Check {
  errors: Findings
  warnings: Findings
  /** Patterns that may still be looked at: each takes up to some 20 ms when it is made for that. */
  patternsLeft: number
}

type Simple = Exclude<KeywordKind, 'schema' | 'schemas' | 'schemaList' | 'reference'>

const MAX_TEXT = 4_000
const MAX_VALUES = 500

const isType = (value: unknown): boolean => (TYPES as readonly unknown[]).includes(value)
const allDifferent = (values: readonly unknown[]): boolean => new Set(values).size === values.length

/** For the plain kinds: what a good value is, in the words of an error and of its mend. */
const KINDS: Record<Exclude<Simple, 'pattern' | 'format' | 'any'>, [(value: unknown) => boolean, string]> = {
  text: [(value) => typeof value === 'string' && value.length <= MAX_TEXT, `a text of at most ${MAX_TEXT} characters`],
  flag: [(value) => typeof value === 'boolean', 'true or false'],
  number: [(value) => typeof value === 'number' && Number.isFinite(value), 'a number'],
  positive: [(value) => typeof value === 'number' && Number.isFinite(value) && value > 0, 'a number above 0'],
  count: [(value) => Number.isSafeInteger(value) && (value as number) >= 0, 'a whole number, 0 or more'],
  values: [
    (value) => Array.isArray(value) && value.length > 0 && value.length <= MAX_VALUES,
    `a list of 1 to ${MAX_VALUES} values`,
  ],
  names: [
    (value) =>
      Array.isArray(value) &&
      value.length <= MAX_VALUES &&
      value.every((name) => typeof name === 'string') &&
      allDifferent(value),
    `a list of at most ${MAX_VALUES} different property names`,
  ],
  types: [
    (value) =>
      isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType) && allDifferent(value)),
    `one of ${TYPES.join(', ')}, or a list of them`,
  ],
  dialect: [isDialect, 'the address of draft 2020-12, "https://json-schema.org/draft/2020-12/schema"'],
}

const checkPattern = (check: Check, value: unknown, path: string): void => {
  check.patternsLeft -= 1
  if (typeof value !== 'string')
    check.errors.add(path, 'pattern must be a text.', 'Give a regular expression, such as "^[a-z]+$".')
  else if (check.patternsLeft < 0)
    check.errors.add(path, 'There are too many patterns.', 'Use fewer; enum, format and maxLength say much too.')
  else {
    const verdict = judgePattern(value)
    if ('refused' in verdict)
      check.errors.add(
        path,
        `The pattern ${shown(value)} is refused: ${verdict.refused}.`,
        'Anchor it with ^ and $, let no two neighbouring repeats match the same characters, or use format, enum or maxLength instead.',
      )
  }
}

const checkFormat = (check: Check, value: unknown, path: string): void => {
  if (typeof value !== 'string' || value.length > 64)
    check.errors.add(path, 'format must be a short text.', `Use one of ${CHECKED_FORMATS.join(', ')}.`)
  else if (Object.hasOwn(REFUSED_FORMATS, value))
    check.errors.add(path, `The format ${shown(value)} is not accepted.`, REFUSED_FORMATS[value] ?? '')
  else if (!(CHECKED_FORMATS as readonly string[]).includes(value))
    check.warnings.add(path, `The format ${shown(value)} is not checked.`, `These are: ${CHECKED_FORMATS.join(', ')}.`)
}

/** Checks the value of a keyword that holds no schema itself. */
export const checkSimpleKeyword = (check: Check, keyword: string, kind: Simple, value: unknown, path: string): void => {
  if (kind === 'pattern') checkPattern(check, value, path)
  else if (kind === 'format') checkFormat(check, value, path)
  else if (kind !== 'any') {
    const [good, wanted] = KINDS[kind]
    if (!good(value)) check.errors.add(path, `${keyword} must be ${wanted}.`, `Give ${wanted}.`)
  }
}
