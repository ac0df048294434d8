import { isPortableName } from './bounds.ts'
import { hasType } from './evaluate.ts'
import { isObject, type JsonObject } from './json-object.ts'
import { CHECKED_FORMATS, type Dialect, dialectOf, saysSomething, TYPES } from './keywords.ts'
import { withTuple } from './members.ts'
import {
  ANYTHING,
  asOne,
  type Branch,
  bothOf,
  branchesOf,
  distinct,
  eitherOf,
  isAnyType,
  withWholeBounds,
} from './portable-branches.ts'
import { portablePattern } from './portable-pattern.ts'
import { nameIn, readableReferences, referenceTo } from './portable-references.ts'
import { followed, membersOf, resolve } from './references.ts'

/** Keywords that say something to readers. Everything else that isn't an assertion is left out. */
const ANNOTATIONS: readonly string[] = ['title', 'description', 'default', 'examples']

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
const OF_SOME_TYPE = new Set(Object.values(BY_TYPE).flat())

/**
 * Formats that are kept. Some frameworks need another package for e-mail addresses, OpenAI refuses requests with addresses of
 * either kind, and AutoGen takes only UUIDs of version 4.
 */
const PORTABLE_FORMATS: readonly unknown[] = CHECKED_FORMATS.filter(
  (format) => !['email', 'uri', 'uri-reference', 'uuid'].includes(format),
)

const pick = (schema: JsonObject, isKept: (keyword: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => isKept(keyword)))

/** Leaves out arguments with other names. They are still accepted. */
const withPortableNames = (object: Branch): Branch => {
  const { properties, required, additionalProperties, ...rest } = object
  const all = isObject(properties) ? properties : {}
  if (Object.keys(all).every(isPortableName)) return object
  const names = (Array.isArray(required) ? required : []).filter(isPortableName)
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(all).filter(([name]) => isPortableName(name))),
    ...(names.length > 0 && { required: names }),
  }
}

/**
 * Builds the portable form of one schema. Each part becomes a list of branches, of which a value matches at least one.
 * A branch has one type and the assertions about it, or is a recursive reference. Undefined stands for every value.
 */
class Projection {
  readonly #root: JsonObject
  readonly #dialect: Dialect
  readonly #kept: readonly string[]
  /** Targets that refer to themselves, with their names in `$defs`. */
  readonly #names = new Map<unknown, string>()
  readonly #definitions: Record<string, JsonObject> = {}

  constructor(root: JsonObject, kept: readonly string[]) {
    this.#root = root
    this.#dialect = dialectOf(root)
    this.#kept = kept
  }

  /** The interfaces of models take one object at the top, and no combination of several. */
  whole(): JsonObject {
    const branches = this.#branches(this.#root) ?? []
    const objects = branches
      .flatMap((branch) => ('$ref' in branch ? this.#branchesOfDefinition(branch) : [branch]))
      .filter(({ type }) => type === 'object')
    const schema = { ...withPortableNames(eitherOf(objects)), ...this.#annotationsOf(this.#root) }
    return readableReferences(schema, this.#definitions)
  }

  #branchesOfDefinition({ $ref }: Branch): readonly Branch[] {
    return branchesOf(this.#definitions[nameIn($ref)] ?? {})
  }

  /** Returns what a schema says to readers: its own words, else those of what it refers to. */
  #annotationsOf(schema: JsonObject): JsonObject {
    const parts = followed(this.#root, schema).flatMap(({ allOf }, i, chain) => [
      ...(chain[i] ? [chain[i]] : []),
      ...(Array.isArray(allOf) ? allOf.filter(isObject).flatMap((member) => followed(this.#root, member)) : []),
    ])
    const words = parts.reverse().map((part) => pick(part, (keyword) => ANNOTATIONS.includes(keyword)))
    return Object.assign(
      {},
      ...words,
      pick(schema, (keyword) => this.#kept.includes(keyword)),
    )
  }

  /** The portable form of a part of the schema. Every value is `{}`, or the list of types for readers who need one. */
  #project(schema: unknown, needsType = false): JsonObject {
    const words = isObject(schema) ? this.#annotationsOf(schema) : {}
    const found = this.#branches(schema) ?? []
    const branches = found.length > 0 ? found : needsType ? ANYTHING : [{}]
    const [only] = branches
    return branches.length === 1 ? { ...only, ...words } : { ...words, anyOf: branches }
  }

  #branches(schema: unknown): readonly Branch[] | undefined {
    if (!isObject(schema)) return undefined
    const stated = pick(schema, (keyword) => saysSomething(this.#dialect, schema, keyword))
    const { $ref, anyOf, oneOf, allOf = [] } = stated
    return [
      this.#ownBranches(stated),
      ...[anyOf, oneOf].map((members) => this.#alternatives(members)),
      ...(allOf as unknown[]).map((member) => this.#branches(member)),
      ...($ref === undefined ? [] : [this.#referred($ref)]),
    ].reduce(bothOf)
  }

  #alternatives(members: unknown): readonly Branch[] | undefined {
    if (!Array.isArray(members)) return undefined
    const all = members.map((member) => {
      const { title, description } = isObject(member) ? member : {}
      const words = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) }
      return this.#branches(member)?.map((branch) => ({ ...words, ...branch }))
    })
    return all.every((branches) => branches !== undefined) ? distinct(all.flat()) : undefined
  }

  /** Returns what a schema says itself, without what it combines or refers to. */
  #ownBranches(stated: JsonObject): readonly Branch[] | undefined {
    const given = stated.type === undefined ? undefined : [stated.type].flat()
    const values = 'const' in stated ? [stated.const] : (stated.enum as unknown[] | undefined)
    const isAboutType = values !== undefined || Object.keys(stated).some((keyword) => OF_SOME_TYPE.has(keyword))
    if (given === undefined && !isAboutType) return undefined
    return TYPES.filter((type) => given?.includes(type) ?? isAnyType(type))
      .filter((type, _, all) => type !== 'integer' || !all.includes('number'))
      .flatMap((type): Branch[] => {
        const ofType = values?.filter((value) => hasType(value, type))
        if (ofType?.length === 0) return []
        const assertions = this.#assertionsOf(type, stated)
        // Some frameworks can't compare lists and objects.
        if (ofType === undefined || ['null', 'array', 'object'].includes(type)) return [assertions]
        return ['const' in stated ? { ...assertions, const: stated.const } : { ...assertions, enum: ofType }]
      })
  }

  #assertionsOf(type: string, stated: JsonObject): Branch {
    const of = pick(stated, (keyword) => BY_TYPE[type]?.includes(keyword) ?? false)
    if (type === 'array') return { type, ...this.#arrayOf(of, stated) }
    if (type === 'object') return { type, ...this.#objectOf(of, stated) }
    if (type !== 'string') return withWholeBounds({ type, ...of })
    const { pattern, format, ...lengths } = of
    const portable = typeof pattern === 'string' ? portablePattern(pattern) : undefined
    return {
      type,
      ...lengths,
      ...(portable !== undefined && { pattern: portable }),
      ...(PORTABLE_FORMATS.includes(format) && { format }),
    }
  }

  /** An array always has `items`, because the interfaces of models ask for them, also next to the places of a tuple. */
  #arrayOf({ items: _, prefixItems: __, ...sizes }: JsonObject, stated: JsonObject): JsonObject {
    const { items, prefixItems } = withTuple(stated)
    if (!Array.isArray(prefixItems)) return { ...sizes, items: this.#project(items) }
    const places = prefixItems.map((member) => this.#project(member))
    const most = Math.min(Number(sizes.maxItems ?? Number.POSITIVE_INFINITY), places.length)
    const isClosed = items === false || most === sizes.maxItems
    return {
      ...sizes,
      ...(isClosed && { maxItems: most }),
      ...(places.length > 0 && { prefixItems: places }),
      items: isClosed ? asOne(places) : this.#project(items),
    }
  }

  #objectOf({ properties, additionalProperties, ...rest }: JsonObject, stated: JsonObject): JsonObject {
    return {
      ...rest,
      properties: Object.fromEntries(
        Object.entries(isObject(properties) ? properties : {}).map(([name, member]) => [
          name,
          this.#project(member, true),
        ]),
      ),
      // Names that patterns allow would be forbidden without them.
      ...(additionalProperties !== undefined &&
        stated.patternProperties === undefined && {
          additionalProperties: isObject(additionalProperties)
            ? this.#project(additionalProperties)
            : additionalProperties,
        }),
    }
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

  #referred(reference: unknown): readonly Branch[] | undefined {
    const target = resolve(this.#root, reference)
    const known = this.#names.get(target)
    if (known !== undefined) return [referenceTo(known)]
    if (!this.#recurs(target)) return this.#branches(target)
    const last = String(reference).split('/').slice(1).at(-1) ?? ''
    const wanted = last.replaceAll(/[^A-Za-z0-9_]/g, '_') || 'schema'
    const taken = new Set(this.#names.values())
    let name = wanted
    for (let n = 2; taken.has(name); n += 1) name = `${wanted}_${n}`
    this.#names.set(target, name)
    // A definition follows those that it refers to.
    this.#definitions[name] = this.#project(target)
    return [referenceTo(name)]
  }
}

/**
 * Returns the form of a tool's schema that clients and models are given: one that frameworks in any language and the
 * interfaces of model providers can read, because one schema that they can't read takes all tools away. It accepts
 * whatever the schema accepts, and may accept more. The platform and the agent check the schema itself.
 *
 * The top is one object. Every other part has one type, or is a flat `anyOf` of such parts, or a reference that recurs.
 * Every object has `properties` and every array `items`. Patterns mean the same in every language, or are left out.
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
