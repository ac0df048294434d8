import { nearest } from '../nearest.ts'
import { type Check, checkPattern, checkSimpleKeyword } from './check-keyword.ts'
import { appendPointer, Findings, quoteName } from './finding.ts'
import { isObject, type JsonObject } from './json-object.ts'
import { dialectOf, isKeyword, KEYWORDS, type Keyword, REFUSED_KEYWORDS } from './keywords.ts'
import { checkReferences, stepsOfReference } from './references.ts'

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
 * Rejects foreign `$ref`s, references that never go into a value, `pattern`s that backtrack without bound, and excessive
 * depth and breadth. The value must have passed `withinBounds`. Adds all findings to `check`, each path prefixed with
 * `path`.
 */
export const checkSchema = (check: Check, schema: unknown, path: string): void => {
  const before = check.errors.list.length
  visit({ check, root: schema }, schema, path, 0)
  if (isObject(schema) && check.errors.list.length === before) checkReferences(check, schema, path)
}

/** A check of one schema, whose root names the dialect. */
interface Visit {
  check: Check
  root: unknown
}

const visit = (visiting: Visit, schema: unknown, path: string, depth: number): void => {
  const { check } = visiting
  if (check.errors.full || typeof schema === 'boolean') return
  if (!isObject(schema))
    check.errors.add(path, 'A schema must be an object, true or false.', 'Use an object such as {"type": "string"}.')
  else if (depth > MAX_DEPTH)
    check.errors.add(path, `Schemas are nested deeper than ${MAX_DEPTH} levels.`, 'Flatten the schema.')
  else {
    for (const [keyword, value] of Object.entries(schema)) {
      if (check.errors.full) return
      const at = appendPointer(path, keyword)
      if (isKeyword(keyword)) visitKeyword(visiting, schema, keyword, value, at, depth)
      else if (!keyword.startsWith('x-')) reportKeyword(check, keyword, at)
    }
    warnOfContradictions(check, schema, path)
  }
}

const visitKeyword = (
  visiting: Visit,
  schema: JsonObject,
  keyword: Keyword,
  value: unknown,
  at: string,
  depth: number,
): void => {
  const { check } = visiting
  const kind = KEYWORDS[keyword]
  if (kind === 'schema') visit(visiting, value, at, depth + 1)
  else if (kind === 'schemaList') visitList(visiting, keyword, value, at, depth)
  else if (kind === 'schemas' || kind === 'patterns' || kind === 'dependencies')
    visitNamed(visiting, keyword, value, at, depth)
  else if (kind === 'items') visitItems(visiting, value, at, depth)
  else if (kind === 'id') checkId(visiting, schema, value, at)
  else if (kind !== 'reference') {
    checkSimpleKeyword(check, keyword, kind, value, at)
    if (kind === 'dialect' && isObject(visiting.root) && value !== visiting.root.$schema)
      check.errors.add(at, 'A part of a schema names another dialect than the whole.', 'Remove $schema here.')
  } else if (stepsOfReference(value) === undefined)
    check.errors.add(
      at,
      `$ref can only point into this schema, not to ${quoteName(String(value))}.`,
      'Copy the schema into $defs and refer to "#/$defs/<name>".',
    )
}

/** Checks `$id`. Within a schema, it would change what references mean. */
const checkId = ({ check, root }: Visit, schema: JsonObject, value: unknown, at: string): void => {
  if (schema !== root)
    check.errors.add(at, 'Only the whole schema may have an $id.', 'Remove it. References point into the whole schema.')
  else if (typeof value !== 'string' || value.length > 2_048)
    check.errors.add(at, '$id must be a URI.', 'Remove it, or use a URI of at most 2,048 characters.')
}

/** Checks `items`: one schema, or in the older dialects a list. Without `$schema`, a list is rewritten when publishing. */
const visitItems = (visiting: Visit, value: unknown, at: string, depth: number): void => {
  if (!Array.isArray(value)) {
    visit(visiting, value, at, depth + 1)
    return
  }
  const { check, root } = visiting
  visitList(visiting, 'items', value, at, depth)
  if (!isObject(root) || dialectOf(root) !== '2020-12') return
  if (root.$schema === undefined)
    check.warnings.add(at, 'items is a list, so it is read as prefixItems.', 'Use prefixItems, and items for the rest.')
  else check.errors.add(at, 'items must be a schema in draft 2020-12.', 'Use prefixItems, and items for the rest.')
}

const visitList = (visiting: Visit, keyword: string, value: unknown, at: string, depth: number): void => {
  if (Array.isArray(value) && value.length > 0 && value.length <= MAX_BRANCHES)
    for (const [index, branch] of value.entries()) visit(visiting, branch, appendPointer(at, index), depth + 1)
  else
    visiting.check.errors.add(
      at,
      `${keyword} must be a list of 1 to ${MAX_BRANCHES} schemas.`,
      'List the schemas, or combine some of them.',
    )
}

const visitNamed = (visiting: Visit, keyword: Keyword, value: unknown, at: string, depth: number): void => {
  const { check } = visiting
  const names = isObject(value) ? Object.entries(value) : undefined
  if (names === undefined)
    check.errors.add(
      at,
      `${keyword} must be an object of schemas.`,
      'Map each name to its schema: {"name": {"type": "string"}}.',
    )
  else if (names.length > MAX_PROPERTIES)
    check.errors.add(at, `${keyword} has more than ${MAX_PROPERTIES} entries.`, 'Remove entries.')
  else
    for (const [name, member] of names) {
      const path = appendPointer(at, name)
      if (KEYWORDS[keyword] === 'patterns') checkPattern(check, name, path)
      if (KEYWORDS[keyword] === 'dependencies' && Array.isArray(member))
        checkSimpleKeyword(check, keyword, 'names', member, path)
      else visit(visiting, member, path, depth + 1)
    }
}

/** Reports a keyword that isn't in the table: an error if it changes what references mean, else a warning. */
const reportKeyword = (check: Check, keyword: string, at: string): void => {
  if (Object.hasOwn(REFUSED_KEYWORDS, keyword))
    check.errors.add(at, `The keyword ${keyword} is not accepted in manifests.`, REFUSED_KEYWORDS[keyword] ?? '')
  else if (!check.warnings.full) {
    const meant = nearest(keyword, Object.keys(KEYWORDS))
    check.warnings.add(
      at,
      `${quoteName(keyword)} is not a JSON Schema keyword, so it is not checked.`,
      meant === undefined
        ? 'Remove it, or prefix its name with "x-" if it is your own annotation.'
        : `Did you mean ${quoteName(meant)}?`,
    )
  }
}

/** Reports schemas that are valid but contradict themselves. */
const warnOfContradictions = (check: Check, schema: JsonObject, path: string): void => {
  const { properties, patternProperties, required, additionalProperties } = schema
  if (Array.isArray(required) && isObject(properties))
    for (const [index, name] of required.slice(0, MAX_REQUIRED).entries())
      if (typeof name === 'string' && !Object.hasOwn(properties, name)) {
        const meant = nearest(name, Object.keys(properties))
        const at = appendPointer(appendPointer(path, 'required'), index)
        const fix =
          meant === undefined ? `Describe ${quoteName(name)} in properties.` : `Did you mean ${quoteName(meant)}?`
        if (additionalProperties === false && patternProperties === undefined)
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
