/**
 * Event patterns of EventBridge rules and Lambda's filter criteria (EventBridge user guide, "Comparison operators"):
 * exact values, `prefix`, `suffix`, `anything-but`, `exists`, `numeric`, `equals-ignore-case`, `wildcard`, `$or`.
 */
type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const NUMERIC: Record<string, (a: number, b: number) => boolean> = {
  '=': (a, b) => a === b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
}

const numeric = (tests: unknown[], value: unknown): boolean => {
  if (typeof value !== 'number') return false
  for (let i = 0; i < tests.length; i += 2) {
    const compare = NUMERIC[String(tests[i])]
    if (!compare?.(value, Number(tests[i + 1]))) return false
  }
  return true
}

const wildcard = (glob: string, value: unknown): boolean => {
  const source = glob.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return typeof value === 'string' && new RegExp(`^${source.join('.*')}$`, 's').test(value)
}

const fits = (value: unknown, test: unknown, end: 'startsWith' | 'endsWith'): boolean => {
  if (typeof value !== 'string') return false
  if (typeof test === 'string') return value[end](test)
  const folded = isObject(test) ? test['equals-ignore-case'] : undefined
  return typeof folded === 'string' && value.toLowerCase()[end](folded.toLowerCase())
}

const anythingBut = (test: unknown, value: unknown): boolean => {
  if (value === undefined) return false
  if (Array.isArray(test)) return !test.some((item) => matchesValue(item, value))
  return !matchesValue(test, value)
}

const OPERATORS: Record<string, (test: unknown, value: unknown) => boolean> = {
  prefix: (test, value) => fits(value, test, 'startsWith'),
  suffix: (test, value) => fits(value, test, 'endsWith'),
  'equals-ignore-case': (test, value) =>
    typeof value === 'string' && typeof test === 'string' && value.toLowerCase() === test.toLowerCase(),
  numeric: (test, value) => Array.isArray(test) && numeric(test, value),
  wildcard: (test, value) => wildcard(String(test), value),
  exists: (test, value) => (value !== undefined) === test,
  'anything-but': anythingBut,
}

const matchesValue = (test: unknown, value: unknown): boolean => {
  if (!isObject(test)) return test === value
  return Object.entries(test).every(([name, argument]) => {
    const operator = OPERATORS[name]
    if (!operator) throw new Error(`Unknown operator in an event pattern: ${name}`)
    return operator(argument, value)
  })
}

const matchesLeaf = (tests: unknown[], value: unknown): boolean => {
  const values = Array.isArray(value) ? value : [value]
  const candidates = values.length > 0 ? values : [undefined]
  return tests.some((test) => candidates.some((candidate) => matchesValue(test, candidate)))
}

/**
 * Returns true if an event matches a pattern.
 *
 * @param pattern the pattern's JSON
 * @param event the event's JSON
 * @throws Error when the pattern uses an unknown operator
 */
export const matches = (pattern: unknown, event: unknown): boolean => {
  if (!isObject(pattern)) return false
  if (Array.isArray(event)) return event.some((item) => matches(pattern, item))
  const fields = isObject(event) ? event : {}
  return Object.entries(pattern).every(([key, test]) => {
    if (key === '$or' && Array.isArray(test)) return test.some((alternative) => matches(alternative, event))
    return Array.isArray(test) ? matchesLeaf(test, fields[key]) : matches(test, fields[key])
  })
}
