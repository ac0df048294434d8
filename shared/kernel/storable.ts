/** Deepest nesting of a stored value. JSON.stringify and downstream readers have limits far above it. */
const MAX_DEPTH = 200

/**
 * Returns the reason why a JSON value can't be stored unchanged, or undefined. An unpaired surrogate has no UTF-8 form,
 * deep nesting breaks serializers, and a `__proto__` key would be lost. Never recursive.
 */
export const findUnstorable = (value: unknown): string | undefined => {
  const waiting: [value: object, depth: number][] = []
  const look = (member: unknown, depth: number): string | undefined => {
    if (typeof member === 'string')
      return member.isWellFormed() ? undefined : 'A string contains an unpaired surrogate.'
    if (typeof member === 'object' && member !== null) waiting.push([member, depth])
    return undefined
  }
  let wrong = look(value, 0)
  for (let next = waiting.pop(); next && !wrong; next = waiting.pop()) {
    const [current, depth] = next
    if (depth >= MAX_DEPTH) return `The value is nested deeper than ${MAX_DEPTH} levels.`
    wrong = Array.isArray(current) ? members(current, depth, look) : fields(current, depth, look)
  }
  return wrong
}

type Look = (member: unknown, depth: number) => string | undefined

/** Checks an array without allocating an entry per member, since a body may be one array of a million numbers. */
const members = (list: readonly unknown[], depth: number, look: Look): string | undefined => {
  for (const member of list) {
    const wrong = look(member, depth + 1)
    if (wrong) return wrong
  }
  return undefined
}

const fields = (object: object, depth: number, look: Look): string | undefined => {
  for (const key of Object.keys(object)) {
    if (!key.isWellFormed()) return 'A key contains an unpaired surrogate.'
    if (key === '__proto__') return 'A key is named __proto__.'
    const wrong = look((object as Record<string, unknown>)[key], depth + 1)
    if (wrong) return wrong
  }
  return undefined
}
