import type { Check } from './check-keyword.ts'
import { shown, under } from './finding.ts'
import { isObject, type JsonObject } from './json-object.ts'
import { KEYWORDS } from './keywords.ts'

/** Schemas that are met when every `$ref` is followed: bounds what one value can cost. */
const MAX_EXPANDED = 2_000

const POINTER = /^#\/(\$defs|definitions)\/([A-Za-z0-9_.-]{1,128})$/

/** The place a local reference points to, or undefined when it is none: `#/$defs/<name>` or `#/definitions/<name>`. */
export const referencedName = (value: unknown): { holder: string; name: string } | undefined => {
  const match = typeof value === 'string' ? POINTER.exec(value) : null
  return match?.[1] !== undefined && match[2] !== undefined ? { holder: match[1], name: match[2] } : undefined
}

/** What a reference of a schema whose form was checked points to. */
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
    return Object.entries(value as object).map(([name, member]) => [under(`/${keyword}`, name), member])
  })

/**
 * Follows every `$ref` of a schema whose form is right. A missing target is an error; so is a circle, and an expansion
 * that grows large, since few definitions that refer to each other twice each already make thousands of schemas.
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
    if (schema.$ref !== undefined) size += sizeOfTarget(schema.$ref, under(at, '$ref'))
    open.delete(schema)
    sizes.set(schema, size)
    return size
  }

  const sizeOfTarget = (reference: unknown, at: string): number => {
    const target = resolve(root, reference)
    if (target === undefined) {
      check.errors.add(
        at,
        `${shown(String(reference))} does not exist.`,
        'Define it in $defs at the top of this schema.',
      )
      return 1
    }
    if (open.has(target)) {
      stopped = true
      check.errors.add(
        at,
        `${shown(String(reference))} refers to itself.`,
        'Write the levels that you need one below the other.',
      )
      return 1
    }
    return sizeOf(target, String(reference).replace('#', path))
  }

  const whole = sizeOf(root, path)
  for (const holder of [root.$defs, root.definitions])
    if (isObject(holder)) for (const [name, definition] of Object.entries(holder)) sizeOf(definition, under(path, name))
  if (!stopped && whole > MAX_EXPANDED)
    check.errors.add(
      path,
      `With its references followed, the schema has more than ${MAX_EXPANDED} parts.`,
      'Simplify it.',
    )
}
