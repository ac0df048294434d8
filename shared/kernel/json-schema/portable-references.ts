import { isObject, type JsonObject } from './json-object.ts'
import { ANYTHING, type Branch, branchesOf } from './portable-branches.ts'

const START = '#/$defs/'

export const referenceTo = (name: string): Branch => ({ $ref: START + name })

/** Returns the name of the definition that a reference is to. */
export const nameIn = (reference: unknown): string => String(reference).slice(START.length)

/**
 * Puts definitions and the references to them into a schema. Some frameworks build a class for each object with properties.
 * They can refer to a class after it is built, or directly inside it, and follow a recursion that passes no object for ever.
 * Where they couldn't follow a reference, its type takes its place.
 *
 * @param definitions each after those that it refers to, unless those refer back
 */
export const readableReferences = (
  schema: JsonObject,
  definitions: Readonly<Record<string, JsonObject>>,
): JsonObject => {
  const known = new Set<string>()

  /** Replaces what can't be followed in a list of branches. Undefined stands for every value. */
  const followable = (branches: readonly Branch[], own?: string): readonly Branch[] | undefined => {
    const all = branches.map((branch): Branch | undefined => {
      const name = nameIn(branch.$ref)
      if (branch.$ref === undefined || known.has(name) || name === own) return branch
      const { type } = definitions[name] ?? {}
      const { $ref: _, ...words } = branch
      if (type === undefined) return undefined
      return { ...words, type, ...(type === 'object' && { properties: {} }), ...(type === 'array' && { items: {} }) }
    })
    return all.every((branch) => branch !== undefined) ? all : undefined
  }

  const withBranches = (part: JsonObject, own: string | undefined, otherwise: readonly Branch[]): JsonObject => {
    const { anyOf, $ref, ...words } = part
    if ($ref === undefined && anyOf === undefined) return part
    const [only, ...others] = followable(branchesOf(part), own) ?? otherwise
    return others.length === 0 ? { ...words, ...only } : { ...words, anyOf: [only, ...others] }
  }

  const eachBranch = (part: JsonObject, change: (branch: Branch) => Branch): JsonObject =>
    Array.isArray(part.anyOf) ? { ...part, anyOf: part.anyOf.map(change) } : change(part)

  /** Ends recursion that passes no object: in lists of lists and of unions. */
  const ended = (part: JsonObject): JsonObject =>
    eachBranch(withBranches(part, undefined, [{}]), (branch) =>
      isObject(branch.items) ? { ...branch, items: ended(branch.items) } : branch,
    )

  /** An object becomes a class, whose fields are classes themselves, or lists or unions of classes. */
  const classOf = (part: JsonObject, own?: string): JsonObject => {
    const { properties } = part
    if (part.type !== 'object' || !isObject(properties)) return part
    const fields = Object.entries(properties).map(([name, value]) => [
      name,
      isObject(value) ? field(value, own) : value,
    ])
    return { ...part, properties: Object.fromEntries(fields) }
  }

  const listOf = (part: JsonObject, own?: string): JsonObject =>
    part.type === 'array' && isObject(part.items)
      ? { ...part, items: classOf(withBranches(part.items, own, [{}])) }
      : part

  const field = (part: JsonObject, own?: string): JsonObject => {
    if (part.type === 'object') return classOf(part)
    return withBranches(
      eachBranch(part, (branch) => listOf(branch, own)),
      own,
      ANYTHING,
    )
  }

  const $defs: Record<string, JsonObject> = {}
  for (const [name, definition] of Object.entries(definitions)) {
    $defs[name] = classOf(ended(definition), name)
    known.add(name)
  }
  const whole = classOf(schema)
  return Object.keys($defs).length === 0 ? whole : { ...whole, $defs }
}
