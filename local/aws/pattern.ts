/**
 * Event patterns of EventBridge rules and Lambda's filter criteria, with the answers of Amazon's Event Ruler
 * (test/vectors/event-patterns.jsonl). Supported are strings, `true`, `false`, `null`, `prefix`, `suffix`, `exists` and
 * `anything-but` with strings. Other patterns are errors.
 */
type Json = Record<string, unknown>
type Leaf = string | number | boolean | null

/** Indices of the elements that hold a value, by array. */
type Membership = ReadonlyMap<number, number>

interface Field {
  value: Leaf
  membership: Membership
}

type Test = (value: Leaf) => boolean

/** Conditions on one path: at least one test has to pass, or the path has to be absent. */
interface Condition {
  path: string
  tests: Test[]
  orAbsent: boolean
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const invalid = (what: string) => new Error(`is not valid: ${what}`)
const unsupported = (what: string) => new Error(`can't be evaluated by the local run: it doesn't support ${what}`)

/** Event Ruler compares addresses as numbers, so that other spellings match. */
const isAddress = (text: string): boolean =>
  /^(\d+\.){3}\d+$/.test(text) || /^[\da-f.]*:[\da-f.]*:[\da-f:.]*$/i.test(text)

const checkText = (name: string, value: unknown): string => {
  if (typeof value === 'string') return value
  if (isObject(value) && Object.keys(value).join() === 'equals-ignore-case') throw unsupported('"equals-ignore-case"')
  throw invalid(`the value of "${name}" must be a string`)
}

const anythingBut = (argument: unknown): Test => {
  if (isObject(argument)) throw unsupported('operators in "anything-but"')
  const excluded: unknown[] = Array.isArray(argument) ? argument : [argument]
  if (excluded.length === 0) throw invalid('"anything-but" needs a value')
  for (const value of excluded) {
    if (typeof value === 'number') throw unsupported('numbers')
    if (typeof value !== 'string') throw invalid('"anything-but" takes strings')
  }
  return (value) => !excluded.includes(value)
}

const UNSUPPORTED = new Set(['numeric', 'equals-ignore-case', 'wildcard', 'cidr', 'exactly'])

const operatorTest = (name: string, argument: unknown): Test => {
  if (UNSUPPORTED.has(name)) throw unsupported(`"${name}"`)
  if (name === 'anything-but') return anythingBut(argument)
  if (name !== 'prefix' && name !== 'suffix') throw invalid(`"${name}" is not an operator`)
  const end = checkText(name, argument)
  // Event Ruler takes the quotation marks around a value as part of it.
  if (end.includes('"')) throw unsupported(`quotation marks in "${name}"`)
  return (value) => typeof value === 'string' && (name === 'prefix' ? value.startsWith(end) : value.endsWith(end))
}

const conditionOf = (path: string, alternatives: unknown[]): Condition => {
  if (alternatives.length === 0) throw invalid(`the array at "${path}" is empty`)
  const condition: Condition = { path, tests: [], orAbsent: false }
  for (const expected of alternatives) {
    if (Array.isArray(expected)) throw invalid(`"${path}" has an array as a value`)
    // Numbers are compared by their digits, which aren't known any more when JSON is parsed.
    if (typeof expected === 'number') throw unsupported('numbers')
    if (typeof expected === 'string' && isAddress(expected)) throw unsupported('IP addresses')
    if (!isObject(expected)) {
      condition.tests.push((value) => value === expected)
      continue
    }
    const [[name, argument] = [], ...more] = Object.entries(expected)
    if (name === undefined || more.length > 0) throw invalid(`"${path}" needs one operator in each object`)
    if (name !== 'exists') condition.tests.push(operatorTest(name, argument))
    else if (argument === true) condition.tests.push(() => true)
    else if (argument === false) condition.orAbsent = true
    else throw invalid('the value of "exists" must be true or false')
  }
  return condition
}

const conditionsOf = (pattern: unknown, steps: string[] = []): Condition[] => {
  if (!isObject(pattern)) throw invalid('it must be an object')
  const entries = Object.entries(pattern)
  if (entries.length === 0) throw invalid('an object is empty')
  return entries.flatMap(([name, inner]) => {
    if (name === '$or') throw unsupported('"$or"')
    const to = [...steps, name]
    if (Array.isArray(inner)) return conditionOf(to.join('.'), inner)
    if (!isObject(inner)) throw invalid(`"${to.join('.')}" must be an object or an array`)
    return conditionsOf(inner, to)
  })
}

/** Collects an event's values by path. Objects and arrays themselves have none. */
const fieldsOf = (event: unknown): Map<string, Field[]> => {
  const fields = new Map<string, Field[]>()
  let arrays = 0
  const collect = (value: unknown, path: string | undefined, membership: Membership): void => {
    if (Array.isArray(value)) {
      const array = arrays++
      for (const [index, item] of value.entries()) {
        const isLeaf = typeof item !== 'object' || item === null
        collect(item, path, isLeaf ? membership : new Map(membership).set(array, index))
      }
    } else if (isObject(value)) {
      for (const [name, inner] of Object.entries(value)) {
        collect(inner, path === undefined ? name : `${path}.${name}`, membership)
      }
    } else if (path !== undefined) {
      const known = fields.get(path)
      const field = { value: value as Leaf, membership }
      if (known) known.push(field)
      else fields.set(path, [field])
    }
  }
  collect(event, undefined, new Map())
  return fields
}

/** @returns the union, or undefined if the two lie in different elements of an array */
const joined = (a: Membership, b: Membership): Membership | undefined => {
  for (const [array, index] of b) if ((a.get(array) ?? index) !== index) return undefined
  return new Map([...a, ...b])
}

/**
 * Compiles a pattern.
 *
 * @param pattern the pattern's JSON
 * @param where names the pattern in errors, e.g. `The pattern of rule x`
 * @returns a function that returns true for events that match
 * @throws Error when AWS would refuse the pattern, or when the local run doesn't support it
 */
export const compilePattern = (pattern: unknown, where = 'The event pattern'): ((event: unknown) => boolean) => {
  let conditions: Condition[]
  try {
    conditions = conditionsOf(pattern)
    const paths = conditions.map(({ path }) => path)
    if (new Set(paths).size < paths.length) throw unsupported('two conditions on one path')
  } catch (error) {
    throw new Error(`${where} ${(error as Error).message}. It is ${JSON.stringify(pattern)}.`)
  }
  // Whether a path is absent depends on the array elements chosen before, so Event Ruler's order counts.
  conditions.sort((a, b) => (a.path < b.path ? -1 : 1))

  const holds = (fields: Map<string, Field[]>, at: number, chosen: Membership): boolean => {
    const condition = conditions[at]
    if (!condition) return true
    const candidates = (fields.get(condition.path) ?? []).flatMap(({ value, membership }) => {
      const together = joined(chosen, membership)
      return together ? [{ value, together }] : []
    })
    if (condition.orAbsent && candidates.length === 0) return holds(fields, at + 1, chosen)
    return candidates.some(
      ({ value, together }) => condition.tests.some((test) => test(value)) && holds(fields, at + 1, together),
    )
  }
  return (event) => holds(fieldsOf(event), 0, new Map())
}
