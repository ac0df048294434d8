import { nearest } from '../nearest.ts'
import { type Check, checkSimpleKeyword } from './check-keyword.ts'
import { Findings, shown, under } from './finding.ts'
import { isObject, type JsonObject } from './json-object.ts'
import { isKeyword, KEYWORDS, type Keyword, REFUSED_KEYWORDS } from './keywords.ts'
import { checkReferences, referencedName } from './references.ts'

/** Levels of schemas within schemas. */
const MAX_DEPTH = 16
const MAX_BRANCHES = 20
const MAX_PROPERTIES = 200
const MAX_PATTERNS = 50
/** Required names that are looked for among the properties; there may be no more properties than that. */
const MAX_REQUIRED = MAX_PROPERTIES

/** A check to be passed along while many schemas of one manifest are looked at, so that their bounds are common. */
export const newCheck = (): Check => ({ errors: new Findings(), warnings: new Findings(), patternsLeft: MAX_PATTERNS })

/**
 * Checks that a value is a schema of the accepted part of JSON Schema ({@link KEYWORDS}), and that it can be evaluated in
 * bounded time: no foreign or circular `$ref`, no `pattern` that backtracks without bound, limited depth and breadth.
 * The value must be within sane bounds already (see `withinBounds`). Findings go to `check`, all of them, `path` first.
 */
export const checkSchema = (check: Check, schema: unknown, path: string): void => {
  const before = check.errors.list.length
  visit(check, schema, path, 0)
  if (isObject(schema) && check.errors.list.length === before) checkReferences(check, schema, path)
}

const visit = (check: Check, schema: unknown, path: string, depth: number): void => {
  if (check.errors.full || typeof schema === 'boolean') return
  if (!isObject(schema))
    check.errors.add(path, 'A schema must be an object, true or false.', 'Give an object such as {"type": "string"}.')
  else if (depth > MAX_DEPTH)
    check.errors.add(path, `Schemas are nested deeper than ${MAX_DEPTH} levels.`, 'Flatten the schema.')
  else {
    for (const [keyword, value] of Object.entries(schema)) {
      if (check.errors.full) return
      const at = under(path, keyword)
      if (isKeyword(keyword)) visitKeyword(check, keyword, value, at, depth)
      else if (!keyword.startsWith('x-')) refuseKeyword(check, keyword, at)
    }
    warnOfContradictions(check, schema, path)
  }
}

const visitKeyword = (check: Check, keyword: Keyword, value: unknown, at: string, depth: number): void => {
  const kind = KEYWORDS[keyword]
  if (kind === 'schema') visit(check, value, at, depth + 1)
  else if (kind === 'schemaList') visitList(check, keyword, value, at, depth)
  else if (kind === 'schemas') visitNamed(check, keyword, value, at, depth)
  else if (kind !== 'reference') checkSimpleKeyword(check, keyword, kind, value, at)
  else if (referencedName(value) === undefined)
    check.errors.add(
      at,
      `$ref may only point into this schema’s own $defs, not to ${shown(String(value))}.`,
      'Copy the schema into $defs and refer to "#/$defs/<name>".',
    )
}

const visitList = (check: Check, keyword: string, value: unknown, at: string, depth: number): void => {
  if (Array.isArray(value) && value.length > 0 && value.length <= MAX_BRANCHES)
    for (const [index, branch] of value.entries()) visit(check, branch, under(at, index), depth + 1)
  else
    check.errors.add(
      at,
      `${keyword} must be a list of 1 to ${MAX_BRANCHES} schemas.`,
      'List the schemas, or join some of them.',
    )
}

const visitNamed = (check: Check, keyword: string, value: unknown, at: string, depth: number): void => {
  const names = isObject(value) ? Object.entries(value) : undefined
  if (names === undefined)
    check.errors.add(
      at,
      `${keyword} must be an object of schemas.`,
      'Give each name its schema: {"name": {"type": "string"}}.',
    )
  else if (names.length > MAX_PROPERTIES)
    check.errors.add(at, `${keyword} has more than ${MAX_PROPERTIES} entries.`, 'Use fewer.')
  else for (const [name, member] of names) visit(check, member, under(at, name), depth + 1)
}

const refuseKeyword = (check: Check, keyword: string, at: string): void => {
  if (Object.hasOwn(REFUSED_KEYWORDS, keyword))
    check.errors.add(at, `The keyword ${keyword} is not accepted in manifests.`, REFUSED_KEYWORDS[keyword] ?? '')
  else {
    const meant = nearest(keyword, Object.keys(KEYWORDS))
    check.errors.add(
      at,
      `${shown(keyword)} is not a keyword of JSON Schema.`,
      meant === undefined
        ? 'Remove it, or begin its name with "x-" if it is a note of your own.'
        : `Did you mean ${shown(meant)}?`,
    )
  }
}

/** What is allowed but can hardly be meant. */
const warnOfContradictions = (check: Check, schema: JsonObject, path: string): void => {
  const { properties, required, additionalProperties } = schema
  if (Array.isArray(required) && isObject(properties))
    for (const [index, name] of required.slice(0, MAX_REQUIRED).entries())
      if (typeof name === 'string' && !Object.hasOwn(properties, name)) {
        const meant = nearest(name, Object.keys(properties))
        const at = under(under(path, 'required'), index)
        const fix = meant === undefined ? `Describe ${shown(name)} in properties.` : `Did you mean ${shown(meant)}?`
        if (additionalProperties === false)
          check.errors.add(at, `${shown(name)} is required, but no such property is allowed.`, fix)
        else check.warnings.add(at, `${shown(name)} is required but not described.`, fix)
      }
  for (const [low, high] of [
    ['minimum', 'maximum'],
    ['minLength', 'maxLength'],
    ['minItems', 'maxItems'],
    ['minProperties', 'maxProperties'],
  ] as const)
    if (Number(schema[low]) > Number(schema[high]))
      check.errors.add(
        under(path, low),
        `${low} is above ${high}, so that no value fits.`,
        `Lower ${low} or raise ${high}.`,
      )
}
