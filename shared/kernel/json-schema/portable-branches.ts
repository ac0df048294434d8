import { isObject, type JsonObject } from './json-object.ts'
import { TYPES } from './keywords.ts'

/** One type with the assertions about it, or a recursive reference. A value matches a list of them if it matches one. */
export type Branch = JsonObject

/** Tells whether a type is one of those that together have every value. Integers are numbers. */
export const isAnyType = (type: string): boolean => type !== 'integer'

/** Every value, for readers who need a type. */
export const ANYTHING: readonly Branch[] = TYPES.filter(isAnyType).map((type) => ({
  type,
  ...(type === 'object' && { properties: {} }),
  ...(type === 'array' && { items: {} }),
}))

const EMPTY: Branch = { type: 'object', properties: {} }

/** Returns the branches of a part in portable form. */
export const branchesOf = (part: JsonObject): readonly Branch[] => (Array.isArray(part.anyOf) ? part.anyOf : [part])

export const distinct = (branches: readonly Branch[]): Branch[] => [
  ...new Map(branches.map((branch) => [JSON.stringify(branch), branch])).values(),
]

const isWord = (keyword: string): boolean => keyword === 'title' || keyword === 'description'

/** Tells whether a branch says no more than its type. */
const isBare = (branch: Branch): boolean =>
  Object.entries(branch).every(
    ([keyword, value]) => keyword === 'type' || isWord(keyword) || (isObject(value) && Object.keys(value).length === 0),
  )

const isNumber = (type: unknown): boolean => type === 'number' || type === 'integer'
const isAlike = (a: Branch, b: Branch): boolean => a.type === b.type || (isNumber(a.type) && isNumber(b.type))
const isReference = (branch: Branch): boolean => '$ref' in branch

const entriesOf = (value: unknown): JsonObject => (isObject(value) ? value : {})
const namesOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Rounds the bounds of integers, for readers whose integers have no others. A multiple of a fraction is left out. */
export const withWholeBounds = (branch: Branch): Branch =>
  branch.type !== 'integer'
    ? branch
    : Object.fromEntries(
        Object.entries(branch).flatMap(([keyword, bound]): [string, unknown][] => {
          if (typeof bound !== 'number' || Number.isInteger(bound)) return [[keyword, bound]]
          if (keyword === 'multipleOf') return []
          return [[keyword, UP.has(keyword) ? Math.ceil(bound) : Math.floor(bound)]]
        }),
      )
const UP = new Set(['minimum', 'exclusiveMaximum'])

/** Joins two branches of one type. Where both say something, the first counts. */
const merged = (first: Branch, second: Branch): Branch => {
  const { items, prefixItems, ...rest } = second
  const required = [...new Set([...namesOf(first.required), ...namesOf(second.required)])]
  return withWholeBounds({
    ...(isBare(first) && first.type === 'array' ? second : rest),
    ...(isBare(first) && first.type === 'array' ? {} : first),
    ...(second.type === 'integer' && { type: 'integer' }),
    ...(first.type === 'object' && { properties: { ...entriesOf(second.properties), ...entriesOf(first.properties) } }),
    ...(required.length > 0 && { required }),
  })
}

/** Returns the branches of one type for the values that match one of the first and one of the second. */
const bothOfType = (first: readonly Branch[], second: readonly Branch[]): readonly Branch[] => {
  const bare = first.find((branch) => branch.type === 'number' && isBare(branch)) ?? first.find(isBare)
  if (second.length === 0) return []
  if (bare !== undefined) return second.map((branch) => merged(bare, branch))
  const [only] = first
  if (only === undefined || first.length > 1) return first
  if (second.length === 1 || only.type === 'object')
    return [merged(only, second.length === 1 ? (second[0] ?? {}) : eitherOf(second))]
  return first
}

/**
 * Returns branches for the values that match both lists, and maybe more: a reference can't be joined with anything, and
 * several branches aren't multiplied with several others. Undefined stands for every value.
 */
export const bothOf = (
  first: readonly Branch[] | undefined,
  second: readonly Branch[] | undefined,
): readonly Branch[] | undefined => {
  if (first === undefined || second === undefined) return first ?? second
  if (first.some(isReference)) return second.every(isBare) || second.some(isReference) ? first : second
  if (second.some(isReference)) return first.every(isBare) ? second : first
  const ofType = (branches: readonly Branch[], type: unknown) => branches.filter((branch) => isAlike(branch, { type }))
  const types = new Set(first.map(({ type }) => (isNumber(type) ? 'number' : type)))
  return distinct([...types].flatMap((type) => bothOfType(ofType(first, type), ofType(second, type))))
}

/** Returns one part for the values that match any of the parts. `{}` is every value. */
const anyOf = (parts: readonly JsonObject[]): JsonObject => {
  const branches = distinct(parts.flatMap(branchesOf))
  const [only = {}] = branches
  if (branches.length <= 1) return only
  return branches.every((branch) => 'type' in branch || isReference(branch)) ? { anyOf: branches } : {}
}

const withType = (part: JsonObject): JsonObject => (Object.keys(part).length === 0 ? { anyOf: ANYTHING } : part)

/** Returns one object for the values that match any of the objects. A name that some of them don't declare may be anything. */
export const eitherOf = (objects: readonly Branch[]): Branch => {
  const [only = EMPTY, ...others] = objects
  if (others.length === 0) return only
  const declared = objects.map(({ properties }) => entriesOf(properties))
  const isClosed = objects.map(({ additionalProperties }) => additionalProperties === false)
  const names = [...new Set(declared.flatMap((properties) => Object.keys(properties)))]
  const required = namesOf(only.required).filter((name) =>
    others.every((object) => namesOf(object.required).includes(name)),
  )
  return {
    type: 'object',
    properties: Object.fromEntries(
      names.map((name) => [
        name,
        withType(
          anyOf(
            declared.flatMap((properties, i) =>
              Object.hasOwn(properties, name) ? [properties[name] as JsonObject] : isClosed[i] ? [] : [{}],
            ),
          ),
        ),
      ]),
    ),
    ...(required.length > 0 && { required }),
    ...(isClosed.every(Boolean) && { additionalProperties: false }),
  }
}

/** Returns one part for the values of all parts, of one type where they have one: not every framework reads others. */
export const asOne = (parts: readonly JsonObject[]): JsonObject => {
  const plain = distinct(
    parts
      .flatMap(branchesOf)
      .map((branch) => Object.fromEntries(Object.entries(branch).filter(([key]) => !isWord(key)))),
  )
  const [first = {}] = plain
  const { type } = first
  if (plain.length <= 1 || type === undefined || !plain.every((branch) => isAlike(first, branch))) return anyOf(plain)
  if (type === 'object') return eitherOf(plain)
  if (type === 'array') return { type, items: {} }
  return { type: isNumber(type) && plain.some((branch) => branch.type === 'number') ? 'number' : type }
}
