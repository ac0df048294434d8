import { hasType } from './evaluate.ts'
import { isObject, type JsonObject } from './json-object.ts'
import { CHECKED_FORMATS, type Dialect, dialectOf, saysSomething, TYPES } from './keywords.ts'
import { withTuple } from './members.ts'
import { portablePattern } from './portable-pattern.ts'
import { membersOf, resolve } from './references.ts'

/** Keywords that say something to readers. Everything else that isn't an assertion is left out. */
const ANNOTATIONS = ['title', 'description', 'default', 'examples'] as const

/** Assertions that are kept, by the type of value that they are about. */
const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'],
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  boolean: [],
  null: [],
}
const OF_ANY_TYPE = ['type', 'enum', 'const', 'anyOf', 'allOf'] as const
const KEPT = new Set<string>([...ANNOTATIONS, ...OF_ANY_TYPE, ...Object.values(BY_TYPE).flat()])

const pick = (schema: JsonObject, isKept: (keyword: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => isKept(keyword)))

/** Writes a list of types as `anyOf`, each branch with the assertions about its type. */
const withOneType = (schema: JsonObject): JsonObject => {
  const { type } = schema
  if (!Array.isArray(type)) return schema
  const [only] = type
  if (type.length === 1) return { ...schema, type: only }
  const ofTypes = new Set(Object.values(BY_TYPE).flat())
  const outer = pick(schema, (keyword) => keyword !== 'type' && keyword !== 'enum' && !ofTypes.has(keyword))
  // Values that match the branches of another `anyOf` needn't be described twice.
  if (schema.anyOf !== undefined) return outer
  const branches = (TYPES as readonly string[])
    .filter((name) => type.includes(name))
    .map((name) => {
      const values = Array.isArray(schema.enum) ? schema.enum.filter((value) => hasType(value, name)) : undefined
      const branch = { type: name, ...pick(schema, (keyword) => BY_TYPE[name]?.includes(keyword) ?? false) }
      return values === undefined ? branch : { ...branch, enum: values }
    })
    .filter((branch) => !('enum' in branch) || branch.enum.length > 0)
  return { ...outer, anyOf: branches }
}

/** Formats that no framework needs another package for, as some do for e-mail addresses. */
const PORTABLE_FORMATS = CHECKED_FORMATS.filter((format) => format !== 'email' && format !== 'uri-reference')

const ANY_TYPE = ['string', 'number', 'boolean', 'object', 'array', 'null'].map((type) => ({
  type,
  ...(type === 'object' && { properties: {} }),
}))

/** Names the type of a property that takes any value, because some frameworks need one, or that of a constant. */
const withType = (schema: JsonObject): JsonObject => {
  if (['type', 'enum', 'anyOf', 'allOf', '$ref'].some((keyword) => keyword in schema)) return schema
  if (!('const' in schema)) return { ...schema, anyOf: ANY_TYPE }
  const type = TYPES.find((name) => name !== 'integer' && hasType(schema.const, name))
  return { ...schema, type, ...(type === 'object' && { properties: {} }) }
}

/** Builds the portable form of one schema, whose recursive references become definitions. */
class Projection {
  readonly #root: JsonObject
  readonly #dialect: Dialect
  readonly #kept: readonly string[]
  /** Targets that refer to themselves, with their names in `$defs`. */
  readonly #names = new Map<unknown, string>()
  readonly #definitions: Record<string, unknown> = {}

  constructor(root: JsonObject, kept: readonly string[]) {
    this.#root = root
    this.#dialect = dialectOf(root)
    this.#kept = kept
  }

  whole(): JsonObject {
    const schema = this.#object(this.#followed())
    return Object.keys(this.#definitions).length === 0 ? schema : { ...schema, $defs: this.#definitions }
  }

  /** Returns the root, or what it refers to if it is a mere reference: clients need the type at the top. */
  #followed(): JsonObject {
    let at = this.#root
    for (let target = resolve(at, at.$ref); isObject(target); target = resolve(this.#root, target.$ref)) {
      const next = target
      if (
        Object.keys(at).some(
          (keyword) => KEPT.has(keyword) && !isAnnotation(keyword) && !isSaid(next, keyword, at[keyword]),
        )
      )
        break
      at = { ...next, ...pick(at, isAnnotation) }
    }
    return at
  }

  #project(schema: unknown): JsonObject {
    return isObject(schema) ? this.#object(schema) : {}
  }

  /** Tells whether following the references of a schema comes back to it. */
  #recurs(target: unknown): boolean {
    const reached = new Set<unknown>()
    const waiting = [target]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (!isObject(next) || reached.has(next)) continue
      reached.add(next)
      const members = membersOf(next)
        .filter(([[keyword]]) => keyword !== '$defs' && keyword !== 'definitions')
        .map(([, member]) => member)
      const referred = next.$ref === undefined ? [] : [resolve(this.#root, next.$ref)]
      for (const member of [...members, ...referred]) {
        if (member === target) return true
        waiting.push(member)
      }
    }
    return false
  }

  #referred(reference: unknown): JsonObject {
    const target = resolve(this.#root, reference)
    if (!this.#names.has(target) && !this.#recurs(target)) return this.#project(target)
    const known = this.#names.get(target)
    if (known !== undefined) return { $ref: `#/$defs/${known}` }
    const last = String(reference).split('/').slice(1).at(-1) ?? ''
    const wanted = last.replaceAll(/[^A-Za-z0-9_]/g, '_') || 'schema'
    const taken = new Set(this.#names.values())
    let name = wanted
    for (let n = 2; taken.has(name); n += 1) name = `${wanted}_${n}`
    this.#names.set(target, name)
    this.#definitions[name] = {}
    this.#definitions[name] = this.#project(target)
    return { $ref: `#/$defs/${name}` }
  }

  #object(schema: JsonObject): JsonObject {
    const said = pick(schema, (keyword) => isAnnotation(keyword) || saysSomething(this.#dialect, schema, keyword))
    const own = this.#ownPart(said)
    if (said.$ref === undefined) return own
    const target = this.#referred(said.$ref)
    const words = pick(own, isAnnotation)
    const more = pick(own, (keyword) => !isAnnotation(keyword) && !isSaid(target, keyword, own[keyword]))
    if (Object.keys(more).length === 0) return { ...target, ...words }
    return '$ref' in target || Object.keys(more).some((keyword) => keyword in target)
      ? { ...words, allOf: [target, more] }
      : { ...target, ...more, ...words }
  }

  /** Projects what a schema says itself, without what it refers to. */
  #ownPart(said: JsonObject): JsonObject {
    const { items, prefixItems, properties, pattern, format, additionalProperties, anyOf, oneOf, allOf, ...rest } =
      withTuple(said)
    const list = (value: unknown): JsonObject[] =>
      Array.isArray(value) ? value.map((member) => this.#project(member)) : []
    const portable = typeof pattern === 'string' ? portablePattern(pattern) : undefined
    const isClosed = items === false && Array.isArray(prefixItems)
    const branches = anyOf ?? oneOf
    const all = list(allOf)
    return withOneType({
      ...pick(rest, (keyword) => KEPT.has(keyword) || this.#kept.includes(keyword)),
      ...(portable !== undefined && { pattern: portable }),
      ...((PORTABLE_FORMATS as readonly unknown[]).includes(format) && { format }),
      ...(Array.isArray(prefixItems) && { prefixItems: list(prefixItems) }),
      ...(isClosed && rest.maxItems === undefined && { maxItems: prefixItems.length }),
      ...(items !== undefined && !isClosed && { items: this.#project(items) }),
      ...((isObject(properties) || said.type === 'object' || isTypeAmong(said.type)) && {
        properties: Object.fromEntries(
          Object.entries(isObject(properties) ? properties : {}).map(([name, member]) => [
            name,
            withType(this.#project(member)),
          ]),
        ),
      }),
      // Names that patterns allow would be forbidden without them.
      ...(additionalProperties !== undefined &&
        said.patternProperties === undefined && {
          additionalProperties: isObject(additionalProperties)
            ? this.#project(additionalProperties)
            : additionalProperties,
        }),
      ...(branches !== undefined && { anyOf: list(branches) }),
      ...(all.length > 0 && { allOf: all }),
    })
  }
}

/** Tells whether an assertion adds nothing to a schema. */
const isSaid = (schema: JsonObject, keyword: string, value: unknown): boolean =>
  keyword in schema &&
  (schema[keyword] === value || (keyword === 'properties' && isObject(value) && Object.keys(value).length === 0))

const isAnnotation = (keyword: string): boolean => (ANNOTATIONS as readonly string[]).includes(keyword)
const isTypeAmong = (type: unknown): boolean => Array.isArray(type) && type.includes('object')

/**
 * Returns the form of a tool's schema that clients and models are given: one that frameworks in any language and the
 * interfaces of model providers can read, because one schema that they can't read takes all tools away. It accepts
 * whatever the schema accepts, and may accept more. The platform and the agent check the schema itself.
 *
 * Patterns mean the same in every language, or are left out. Every object has `properties`, every type is one name,
 * `oneOf` is `anyOf`, tuples are `prefixItems`, references remain only where they recur, and other keywords are left out.
 *
 * @param schema a schema that `checkSchema` has accepted
 * @param kept further keywords to keep
 */
export const portableSchema = (schema: JsonObject, kept: readonly string[] = []): Record<string, unknown> => {
  const known = projected.get(schema) ?? new Map<string, JsonObject>()
  projected.set(schema, known)
  const form = known.get(kept.join()) ?? new Projection(schema, kept).whole()
  known.set(kept.join(), form)
  return form
}

/** Forms by schema, because the manifests that functions keep in memory are listed often. */
const projected = new WeakMap<JsonObject, Map<string, JsonObject>>()
