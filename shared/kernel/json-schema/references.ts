import type { Check } from './check-keyword.ts'
import { appendPointer, quoteName } from './finding.ts'
import { isObject, type JsonObject } from './json-object.ts'
import { KEYWORDS } from './keywords.ts'

/** Most schemas after every `$ref` is expanded. Bounds the cost of validating one value. */
const MAX_EXPANDED = 2_000

const POINTER = /^#\/(\$defs|definitions)\/([A-Za-z0-9_.-]{1,128})$/

/** Parses a local reference, `#/$defs/<name>` or `#/definitions/<name>`. Returns undefined for anything else. */
export const referencedName = (value: unknown): { holder: string; name: string } | undefined => {
  const match = typeof value === 'string' ? POINTER.exec(value) : null
  return match?.[1] !== undefined && match[2] !== undefined ? { holder: match[1], name: match[2] } : undefined
}

/** Returns the target of a reference in a schema whose form was checked. */
export const resolve = (root: JsonObject, reference: unknown): unknown => {
  const target = referencedName(reference)
  const holder = target === undefined ? undefined : root[target.holder]
  return target !== undefined && isObject(holder) && Object.hasOwn(holder, target.name)
    ? holder[target.name]
    : undefined
}

const membersOf = (schema: JsonObject): [string, unknown][] =>
  Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (keyword === '$defs' || keyword === 'definitions') return []
    const kind = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword as keyof typeof KEYWORDS] : undefined
    if (kind === 'schema') return [[`/${keyword}`, value]]
    if (kind !== 'schemas' && kind !== 'schemaList') return []
    return Object.entries(value as object).map(([name, member]) => [appendPointer(`/${keyword}`, name), member])
  })

/**
 * Follows every `$ref` of a schema whose form was checked. Reports missing targets, cycles and large expansions:
 * a few definitions that refer to each other twice already expand to thousands of schemas.
 */
export const checkReferences = (check: Check, root: JsonObject, path: string): void => {
  const sizes = new Map<unknown, number>()
  const open = new Set<unknown>()
  let stopped = false

  const sizeOf = (schema: unknown, at: string): number => {
    if (!isObject(schema) || stopped) return 1
    const known = sizes.get(schema)
    if (known !== undefined) return known
    open.add(schema)
    let size = 1
    for (const [step, member] of membersOf(schema)) size += sizeOf(member, at + step)
    if (schema.$ref !== undefined) size += sizeOfTarget(schema.$ref, appendPointer(at, '$ref'))
    open.delete(schema)
    sizes.set(schema, size)
    return size
  }

  const sizeOfTarget = (reference: unknown, at: string): number => {
    const target = resolve(root, reference)
    if (target === undefined) {
      check.errors.add(
        at,
        `${quoteName(String(reference))} does not exist.`,
        'Define it in $defs at the top of this schema.',
      )
      return 1
    }
    if (open.has(target)) {
      stopped = true
      check.errors.add(at, `${quoteName(String(reference))} refers to itself.`, 'Write out the levels that you need.')
      return 1
    }
    return sizeOf(target, String(reference).replace('#', path))
  }

  const whole = sizeOf(root, path)
  for (const holder of [root.$defs, root.definitions])
    if (isObject(holder))
      for (const [name, definition] of Object.entries(holder)) sizeOf(definition, appendPointer(path, name))
  if (!stopped && whole > MAX_EXPANDED)
    check.errors.add(
      path,
      `The schema has more than ${MAX_EXPANDED} subschemas after its references are expanded.`,
      'Simplify it.',
    )
}
