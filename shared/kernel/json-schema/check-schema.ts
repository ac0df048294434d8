import { nearest } from '../nearest.ts'
import { type Check, checkSimpleKeyword } from './check-keyword.ts'
import { appendPointer, Findings, quoteName } from './finding.ts'
import { isObject, type JsonObject } from './json-object.ts'
import { isKeyword, KEYWORDS, type Keyword, REFUSED_KEYWORDS } from './keywords.ts'
import { checkReferences, referencedName } from './references.ts'

/** Levels of nested schemas. */
const MAX_DEPTH = 16
const MAX_BRANCHES = 20
const MAX_PROPERTIES = 200
const MAX_PATTERNS = 50
/** Required names that are looked up among the properties, which have the same limit. */
const MAX_REQUIRED = MAX_PROPERTIES

/** Creates a check to share among all schemas of one manifest, so that they share its limits. */
export const newCheck = (): Check => ({ errors: new Findings(), warnings: new Findings(), patternsLeft: MAX_PATTERNS })

/**
 * Checks that a value uses the accepted part of JSON Schema ({@link KEYWORDS}) and can be evaluated in bounded time.
 * Rejects foreign and circular `$ref`s, `pattern`s that backtrack without bound, and excessive depth and breadth.
 * The value must have passed `withinBounds`. Adds all findings to `check`, each path prefixed with `path`.
 */
export const checkSchema = (check: Check, schema: unknown, path: string): void => {
  const before = check.errors.list.length
  visit(check, schema, path, 0)
  if (isObject(schema) && check.errors.list.length === before) checkReferences(check, schema, path)
}

const visit = (check: Check, schema: unknown, path: string, depth: number): void => {
  if (check.errors.full || typeof schema === 'boolean') return
  if (!isObject(schema))
    check.errors.add(path, 'A schema must be an object, true or false.', 'Use an object such as {"type": "string"}.')
  else if (depth > MAX_DEPTH)
    check.errors.add(path, `Schemas are nested deeper than ${MAX_DEPTH} levels.`, 'Flatten the schema.')
  else {
    for (const [keyword, value] of Object.entries(schema)) {
      if (check.errors.full) return
      const at = appendPointer(path, keyword)
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
      `$ref can only point into this schema’s own $defs, not to ${quoteName(String(value))}.`,
      'Copy the schema into $defs and refer to "#/$defs/<name>".',
    )
}

const visitList = (check: Check, keyword: string, value: unknown, at: string, depth: number): void => {
  if (Array.isArray(value) && value.length > 0 && value.length <= MAX_BRANCHES)
    for (const [index, branch] of value.entries()) visit(check, branch, appendPointer(at, index), depth + 1)
  else
    check.errors.add(
      at,
      `${keyword} must be a list of 1 to ${MAX_BRANCHES} schemas.`,
      'List the schemas, or combine some of them.',
    )
}

const visitNamed = (check: Check, keyword: string, value: unknown, at: string, depth: number): void => {
  const names = isObject(value) ? Object.entries(value) : undefined
  if (names === undefined)
    check.errors.add(
      at,
      `${keyword} must be an object of schemas.`,
      'Map each name to its schema: {"name": {"type": "string"}}.',
    )
  else if (names.length > MAX_PROPERTIES)
    check.errors.add(at, `${keyword} has more than ${MAX_PROPERTIES} entries.`, 'Remove entries.')
  else for (const [name, member] of names) visit(check, member, appendPointer(at, name), depth + 1)
}

const refuseKeyword = (check: Check, keyword: string, at: string): void => {
  if (Object.hasOwn(REFUSED_KEYWORDS, keyword))
    check.errors.add(at, `The keyword ${keyword} is not accepted in manifests.`, REFUSED_KEYWORDS[keyword] ?? '')
  else {
    const meant = nearest(keyword, Object.keys(KEYWORDS))
    check.errors.add(
      at,
      `${quoteName(keyword)} is not a JSON Schema keyword.`,
      meant === undefined
        ? 'Remove it, or prefix its name with "x-" if it is your own annotation.'
        : `Did you mean ${quoteName(meant)}?`,
    )
  }
}

/** Reports schemas that are valid but contradict themselves. */
const warnOfContradictions = (check: Check, schema: JsonObject, path: string): void => {
  const { properties, required, additionalProperties } = schema
  if (Array.isArray(required) && isObject(properties))
    for (const [index, name] of required.slice(0, MAX_REQUIRED).entries())
      if (typeof name === 'string' && !Object.hasOwn(properties, name)) {
        const meant = nearest(name, Object.keys(properties))
        const at = appendPointer(appendPointer(path, 'required'), index)
        const fix =
          meant === undefined ? `Describe ${quoteName(name)} in properties.` : `Did you mean ${quoteName(meant)}?`
        if (additionalProperties === false)
          check.errors.add(
            at,
            `${quoteName(name)} is required, but properties and additionalProperties don’t allow it.`,
            fix,
          )
        else check.warnings.add(at, `${quoteName(name)} is required but not described in properties.`, fix)
      }
  for (const [low, high] of [
    ['minimum', 'maximum'],
    ['minLength', 'maxLength'],
    ['minItems', 'maxItems'],
    ['minProperties', 'maxProperties'],
  ] as const)
    if (Number(schema[low]) > Number(schema[high]))
      check.errors.add(
        appendPointer(path, low),
        `${low} is greater than ${high}, so no value matches.`,
        `Lower ${low} or raise ${high}.`,
      )
}
