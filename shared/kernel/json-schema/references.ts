import type { Check } from './check-keyword.ts'
import { appendPointer, quoteName } from './finding.ts'
import { isObject, type JsonObject } from './json-object.ts'
import { type Dialect, dialectOf, isKeyword, KEYWORDS, saysSomething } from './keywords.ts'

/** Most schemas after every `$ref` is expanded once. Bounds the size of what models are given. */
const MAX_EXPANDED = 2_000

/** Most schemas that may apply to one value through references and combinations. Bounds the evaluation's recursion. */
const MAX_IN_PLACE = 64

const MAX_POINTER = 512

/** Splits a local reference, `#` or a JSON Pointer in a URI fragment. Returns undefined for anything else. */
export const stepsOfReference = (value: unknown): string[] | undefined => {
  if (typeof value !== 'string' || value.length > MAX_POINTER || !/^#(\/|$)/.test(value)) return undefined
  try {
    return decodeURIComponent(value.slice(1))
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  } catch {
    return undefined
  }
}

/** Subschemas of one schema: the step to each, the subschema, and whether it applies to the same value. */
export const membersOf = (schema: JsonObject): [steps: string[], member: unknown, isInPlace: boolean][] =>
  Object.entries(schema).flatMap(([keyword, value]): [string[], unknown, boolean][] => {
    const kind = isKeyword(keyword) ? KEYWORDS[keyword] : undefined
    const isInPlace = IN_PLACE.has(keyword)
    if (kind === 'schema' || (kind === 'items' && !Array.isArray(value))) return [[[keyword], value, isInPlace]]
    if (!(kind && CONTAINERS.has(kind)) || typeof value !== 'object' || value === null) return []
    return Object.entries(value)
      .filter(([, member]) => !(kind === 'dependencies' && Array.isArray(member)))
      .map(([name, member]) => [[keyword, name], member, isInPlace])
  })

const CONTAINERS = new Set<string>(['schemas', 'schemaList', 'patterns', 'items', 'dependencies'])
const DEFINITIONS = new Set(['$defs', 'definitions'])
const IN_PLACE = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'])

/** Returns the target of a reference: the root, or a subschema of it. Undefined if there is none. */
export const resolve = (root: JsonObject, reference: unknown): unknown => {
  const steps = stepsOfReference(reference)
  if (steps === undefined) return undefined
  let at: unknown = root
  for (let rest = steps; rest.length > 0; ) {
    if (!isObject(at)) return undefined
    const found = membersOf(at).find(([path]) => path.every((step, index) => step === rest[index]))
    if (found === undefined) return undefined
    at = found[1]
    rest = rest.slice(found[0].length)
  }
  return isObject(at) || typeof at === 'boolean' ? at : undefined
}

/** Returns a part of a schema and what it refers to, one after the other. The references of an accepted schema end. */
export const followed = (root: JsonObject, part: unknown): JsonObject[] => {
  const found: JsonObject[] = []
  for (
    let at = part;
    isObject(at) && !found.includes(at);
    at = at.$ref === undefined ? undefined : resolve(root, at.$ref)
  )
    found.push(at)
  return found
}

/** Tells whether the members of a schema under a keyword are evaluated. Definitions are only referred to. */
const isEvaluated = (dialect: Dialect, schema: JsonObject, keyword: string): boolean =>
  !DEFINITIONS.has(keyword) && saysSomething(dialect, schema, keyword)

/**
 * Follows every `$ref` of a schema whose form was checked. Reports missing targets, references that come back to
 * themselves without going into a value, and large expansions: a few definitions that refer to each other twice already
 * expand to thousands of schemas. A recursive reference counts once, because values end.
 */
export const checkReferences = (check: Check, root: JsonObject, path: string): void => {
  const dialect = dialectOf(root)
  const sizes = new Map<unknown, number>()
  const chains = new Map<unknown, number>()
  const open = new Set<unknown>()
  const openInPlace = new Set<unknown>()
  const targets = new Map<unknown, unknown>()
  let stopped = false

  const targetOf = (reference: unknown, at: string): unknown => {
    if (!targets.has(reference)) {
      targets.set(reference, resolve(root, reference))
      if (targets.get(reference) === undefined)
        check.errors.add(
          at,
          `${quoteName(String(reference))} does not exist.`,
          'Define it in $defs at the top of this schema.',
        )
    }
    return targets.get(reference)
  }

  const sizeOf = (schema: unknown, at: string): number => {
    if (!isObject(schema) || open.has(schema)) return 1
    const known = sizes.get(schema)
    if (known !== undefined) return known
    open.add(schema)
    let size = 1
    for (const [steps, member] of membersOf(schema))
      if (isEvaluated(dialect, schema, steps[0] ?? '')) size += sizeOf(member, steps.reduce(appendPointer, at))
    if (schema.$ref !== undefined) {
      const target = targetOf(schema.$ref, appendPointer(at, '$ref'))
      size += sizeOf(target, path + String(schema.$ref).slice(1))
    }
    open.delete(schema)
    sizes.set(schema, size)
    return size
  }

  /** Longest chain of schemas that apply to the same value. */
  const chainOf = (schema: unknown, at: string): number => {
    if (!isObject(schema) || stopped) return 1
    const known = chains.get(schema)
    if (known !== undefined) return known
    openInPlace.add(schema)
    let longest = 0
    for (const [steps, member, isInPlace] of membersOf(schema))
      if (isInPlace && saysSomething(dialect, schema, steps[0] ?? ''))
        longest = Math.max(longest, chainOf(member, steps.reduce(appendPointer, at)))
    if (schema.$ref !== undefined) {
      const target = targets.get(schema.$ref)
      if (openInPlace.has(target)) {
        stopped = true
        check.errors.add(
          appendPointer(at, '$ref'),
          `${quoteName(String(schema.$ref))} refers to itself without going into a value.`,
          'Remove the reference, or put it below properties or items.',
        )
      } else longest = Math.max(longest, chainOf(target, path + String(schema.$ref).slice(1)))
    }
    openInPlace.delete(schema)
    chains.set(schema, longest + 1)
    return longest + 1
  }

  const everySchema: [unknown, string][] = []
  const collect = (schema: unknown, at: string): void => {
    if (!isObject(schema)) return
    everySchema.push([schema, at])
    for (const [steps, member] of membersOf(schema)) collect(member, steps.reduce(appendPointer, at))
  }
  collect(root, path)
  for (const [schema, at] of everySchema) sizeOf(schema, at)
  const longest = Math.max(...everySchema.map(([schema, at]) => chainOf(schema, at)))
  if (!stopped && ((sizes.get(root) ?? 0) > MAX_EXPANDED || longest > MAX_IN_PLACE))
    check.errors.add(
      path,
      `The schema has more than ${MAX_EXPANDED} subschemas after its references are expanded.`,
      'Simplify it.',
    )
}
