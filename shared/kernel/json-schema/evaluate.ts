import { format as FORMATS } from '@cfworker/json-schema'
import { withinBounds } from './bounds.ts'
import { appendPointer, type Finding } from './finding.ts'
import { isObject, type JsonObject } from './json-object.ts'
import { CHECKED_FORMATS, type Dialect, dialectOf, saysSomething } from './keywords.ts'
import { analyzePattern, type PatternVerdict } from './pattern.ts'
import { resolve } from './references.ts'
import { describeMismatch } from './wording.ts'

/** Largest value that is validated. Bounds the cost of a check for any schema. */
const VALUE_BOUNDS = { depth: 32, nodes: 5_000, characters: 1_048_576 }

/**
 * Steps that one evaluation may take, up to about half a second. A schema that applies several branches at each level of
 * a recursion would otherwise take exponential time.
 */
const MAX_STEPS = 100_000_000
/** Steps of applying one schema to one value. */
const STEPS_PER_SCHEMA = 200

const MAX_MISMATCHES = 100

export type Mismatch = Pick<Finding, 'path' | 'message'>

class TooCostly extends Error {}

/** Members of one value that keywords have evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
interface Evaluated {
  names: Set<string>
  items: Set<number>
}

const nothing = (): Evaluated => ({ names: new Set(), items: new Set() })

const merge = (into: Evaluated, { names, items }: Evaluated): void => {
  for (const name of names) into.names.add(name)
  for (const item of items) into.items.add(item)
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

/** Tells whether a value has a type of JSON Schema. A number without a fraction is an integer. */
export const hasType = (value: unknown, type: unknown): boolean =>
  type === 'integer' ? Number.isInteger(value) : typeOf(value) === type

/** Compares JSON values: numbers by value, objects without the order of their members. */
const equals = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) =>
        Object.hasOwn(other, name) &&
        equals((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
    )
  )
}

/** Returns a text that is the same for equal JSON values. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  )

const isMultiple = (value: number, of: number): boolean => {
  const scaled = (number: number): [digits: bigint, exponent: number] => {
    const [mantissa = '', exponent = '0'] = String(Math.abs(number)).split('e')
    const [whole = '', fraction = ''] = mantissa.split('.')
    return [BigInt(whole + fraction), Number(exponent) - fraction.length]
  }
  const [digits, exponent] = scaled(value)
  const [divisor, divisorExponent] = scaled(of)
  const shift = exponent - divisorExponent
  return shift >= 0
    ? (digits * 10n ** BigInt(shift)) % divisor === 0n
    : digits % (divisor * 10n ** BigInt(-shift)) === 0n
}

/** Counts the characters of a text, where a surrogate pair is one. */
const lengthOf = (text: string): number => {
  let length = 0
  for (const _ of text) length += 1
  return length
}

/** One evaluation of a value, with what its parts share. */
class Evaluation {
  readonly #root: JsonObject
  readonly #dialect: Dialect
  readonly #patterns = new Map<string, PatternVerdict>()
  readonly #targets = new Map<unknown, unknown>()
  #steps = MAX_STEPS

  constructor(root: JsonObject) {
    this.#root = root
    this.#dialect = dialectOf(root)
  }

  #spend(steps: number): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new TooCostly()
  }

  /** Returns how a pattern's match ended, or a reason why it can't be tried on this text. */
  #match(pattern: string, text: string): boolean | string {
    const verdict = this.#patterns.get(pattern) ?? analyzePattern(pattern)
    this.#patterns.set(pattern, verdict)
    if ('refused' in verdict) return 'has a pattern that can’t be checked'
    if (text.length > verdict.longest) return `is longer than ${verdict.longest} characters`
    this.#spend(verdict.steps(text.length))
    return verdict.matcher.test(text)
  }

  #target(reference: unknown): unknown {
    if (!this.#targets.has(reference)) this.#targets.set(reference, resolve(this.#root, reference))
    return this.#targets.get(reference)
  }

  /**
   * Applies a schema to a value and returns whether it matches. Adds mismatches to `found` unless only the outcome
   * counts, as in a branch.
   */
  apply(schema: unknown, value: unknown, path: string, found: Mismatch[] | undefined, seen: Evaluated): boolean {
    this.#spend(STEPS_PER_SCHEMA)
    if (typeof schema === 'boolean') {
      if (!schema) found?.push({ path, message: describeMismatch('false', undefined) })
      return schema
    }
    if (!isObject(schema)) return true
    const says = (keyword: string): boolean =>
      schema[keyword] !== undefined && saysSomething(this.#dialect, schema, keyword)
    let matches = true
    const fail = (keyword: string, at = path, message = describeMismatch(keyword, schema[keyword])): void => {
      matches = false
      if (found !== undefined && found.length < MAX_MISMATCHES) found.push({ path: at, message })
    }
    /** Applies a part that must match. */
    const require: Require = (part, member, at) => {
      const inner = nothing()
      if (!this.apply(part, member, at, found, inner)) matches = false
      if (member === value && at === path) merge(seen, inner)
    }

    if (schema.$ref !== undefined) require(this.#target(schema.$ref), value, path)
    if (says('type')) {
      const types = Array.isArray(schema.type) ? schema.type : [schema.type]
      if (!types.some((type) => hasType(value, type))) fail('type')
    }
    if (says('enum') && !(schema.enum as unknown[]).some((one) => equals(one, value))) fail('enum')
    if (says('const') && !equals(schema.const, value)) fail('const')
    this.#combine(schema, says, value, path, seen, fail, require)
    if (typeof value === 'string') this.#text(schema, says, value, fail)
    else if (typeof value === 'number') this.#number(schema, says, value, fail)
    else if (Array.isArray(value)) this.#array(schema, says, value, path, seen, fail, require)
    else if (isObject(value)) this.#object(schema, says, value, path, seen, fail, require)
    return matches
  }

  #combine(
    schema: JsonObject,
    says: (keyword: string) => boolean,
    value: unknown,
    path: string,
    seen: Evaluated,
    fail: Fail,
    require: Require,
  ): void {
    /** Returns whether a branch matches, and keeps what it evaluated if so. */
    const branch = (part: unknown): boolean => {
      const inner = nothing()
      const isMatch = this.apply(part, value, path, undefined, inner)
      if (isMatch) merge(seen, inner)
      return isMatch
    }
    const list = (keyword: string): unknown[] => schema[keyword] as unknown[]
    if (says('allOf')) for (const part of list('allOf')) require(part, value, path)
    if (says('anyOf') && list('anyOf').filter(branch).length === 0) fail('anyOf')
    if (says('oneOf') && list('oneOf').filter(branch).length !== 1) fail('oneOf')
    if (says('not') && this.apply(schema.not, value, path, undefined, nothing())) fail('not')
    if (says('if')) {
      const next = branch(schema.if) ? 'then' : 'else'
      if (says(next)) require(schema[next], value, path)
    }
  }

  #text(schema: JsonObject, says: (keyword: string) => boolean, value: string, fail: Fail): void {
    this.#spend(value.length)
    const length = says('minLength') || says('maxLength') ? lengthOf(value) : 0
    if (says('minLength') && length < Number(schema.minLength)) fail('minLength')
    if (says('maxLength') && length > Number(schema.maxLength)) fail('maxLength')
    if (says('pattern')) {
      const outcome = this.#match(String(schema.pattern), value)
      if (outcome === false) fail('pattern')
      else if (outcome !== true) fail('pattern', undefined, outcome)
    }
    const format = schema.format as (typeof CHECKED_FORMATS)[number]
    if (says('format') && CHECKED_FORMATS.includes(format) && FORMATS[format]?.(value) === false) fail('format')
  }

  #number(schema: JsonObject, says: (keyword: string) => boolean, value: number, fail: Fail): void {
    if (says('minimum') && value < Number(schema.minimum)) fail('minimum')
    if (says('maximum') && value > Number(schema.maximum)) fail('maximum')
    if (says('exclusiveMinimum') && value <= Number(schema.exclusiveMinimum)) fail('exclusiveMinimum')
    if (says('exclusiveMaximum') && value >= Number(schema.exclusiveMaximum)) fail('exclusiveMaximum')
    if (says('multipleOf') && !isMultiple(value, Number(schema.multipleOf))) fail('multipleOf')
  }

  #array(
    schema: JsonObject,
    says: (keyword: string) => boolean,
    value: readonly unknown[],
    path: string,
    seen: Evaluated,
    fail: Fail,
    require: Require,
  ): void {
    if (says('minItems') && value.length < Number(schema.minItems)) fail('minItems')
    if (says('maxItems') && value.length > Number(schema.maxItems)) fail('maxItems')
    const { items } = schema
    const isTuple = Array.isArray(items)
    const first = says('items') && isTuple ? items : says('prefixItems') ? (schema.prefixItems as unknown[]) : []
    const rest = isTuple
      ? says('additionalItems')
        ? schema.additionalItems
        : undefined
      : says('items')
        ? items
        : undefined
    for (const [index, item] of value.entries()) {
      const part = index < first.length ? first[index] : rest
      if (part === undefined) continue
      require(part, item, appendPointer(path, index))
      seen.items.add(index)
    }
    if (says('contains')) {
      const matching = [...value.keys()].filter((index) =>
        this.apply(schema.contains, value[index], '', undefined, nothing()),
      )
      const least = says('minContains') ? Number(schema.minContains) : 1
      const most = says('maxContains') ? Number(schema.maxContains) : Number.POSITIVE_INFINITY
      if (matching.length < least || matching.length > most) fail('contains')
      // In 2019-09, `contains` evaluates nothing.
      if (this.#dialect === '2020-12') for (const index of matching) seen.items.add(index)
    }
    if (schema.uniqueItems === true && says('uniqueItems')) {
      const texts = value.map(textOf)
      this.#spend(texts.reduce((sum, text) => sum + text.length, 0))
      if (new Set(texts).size < texts.length) fail('uniqueItems')
    }
    if (says('unevaluatedItems'))
      for (const [index, item] of value.entries())
        if (!seen.items.has(index)) {
          require(schema.unevaluatedItems, item, appendPointer(path, index))
          seen.items.add(index)
        }
  }

  #object(
    schema: JsonObject,
    says: (keyword: string) => boolean,
    value: JsonObject,
    path: string,
    seen: Evaluated,
    fail: Fail,
    require: Require,
  ): void {
    const names = Object.keys(value)
    if (says('minProperties') && names.length < Number(schema.minProperties)) fail('minProperties')
    if (says('maxProperties') && names.length > Number(schema.maxProperties)) fail('maxProperties')
    const needed = (list: unknown): void => {
      for (const name of list as string[])
        if (!Object.hasOwn(value, name)) fail('required', appendPointer(path, name), 'is required')
    }
    if (says('required')) needed(schema.required)
    for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies'])
      if (says(keyword))
        for (const [name, part] of Object.entries(schema[keyword] as object))
          if (Object.hasOwn(value, name))
            if (Array.isArray(part)) needed(part)
            else require(part, value, path)
    const properties = says('properties') ? (schema.properties as JsonObject) : {}
    const patterns = says('patternProperties') ? Object.entries(schema.patternProperties as JsonObject) : []
    for (const name of names) {
      const at = appendPointer(path, name)
      const parts = Object.hasOwn(properties, name) ? [properties[name]] : []
      for (const [pattern, part] of patterns) {
        const outcome = this.#match(pattern, name)
        if (outcome === true) parts.push(part)
        else if (outcome !== false) fail('patternProperties', at, outcome)
      }
      if (parts.length === 0 && says('additionalProperties')) parts.push(schema.additionalProperties)
      if (says('propertyNames') && !this.apply(schema.propertyNames, name, at, undefined, nothing()))
        fail('propertyNames', at)
      for (const part of parts) require(part, value[name], at)
      if (parts.length > 0) seen.names.add(name)
    }
    if (says('unevaluatedProperties'))
      for (const name of names)
        if (!seen.names.has(name)) {
          require(schema.unevaluatedProperties, value[name], appendPointer(path, name))
          seen.names.add(name)
        }
  }
}

type Fail = (keyword: string, at?: string, message?: string) => void
type Require = (part: unknown, member: unknown, at: string) => void

/**
 * Returns every mismatch between a value and a schema that `checkSchema` has accepted, or an empty list. The schema's
 * dialect is the one that it names, else 2020-12. `path` is a JSON Pointer into the value. `message` reads as a
 * continuation of the field's name ("must be 3 or less"). Never throws. A value that is too large gives one mismatch, and
 * so does one that takes too long, so the cost is bounded for any schema and value.
 */
export const validateAgainst = (schema: unknown, value: unknown): Mismatch[] => {
  if (typeof schema === 'boolean') return schema ? [] : [{ path: '', message: 'is not expected here' }]
  if (!isObject(schema)) return [{ path: '', message: 'cannot be checked because its schema is invalid' }]
  const outOfBounds = withinBounds(value, VALUE_BOUNDS).list
  if (outOfBounds.length > 0) return outOfBounds.map(({ path, message }) => ({ path, message }))
  const found: Mismatch[] = []
  try {
    new Evaluation(schema).apply(schema, value, '', found, nothing())
  } catch (error) {
    if (error instanceof TooCostly) return [{ path: '', message: 'takes too long to check' }]
    throw error
  }
  return [...new Map(found.map((one) => [`${one.path}\n${one.message}`, one])).values()]
}
