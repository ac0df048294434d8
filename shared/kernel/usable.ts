/** As deep as a value may be nested. JSON.stringify and every reader behind us have limits of their own far above it. */
const MAX_DEPTH = 200

/**
 * Why a JSON value can't be kept as it is: half of a surrogate pair has no UTF-8 form, and what is nested too deep breaks
 * serializers. A key `__proto__` would be lost on the way. Undefined for a value that is fine. Never recursive.
 */
export const unusable = (value: unknown): string | undefined => {
  const waiting: [value: object, depth: number][] = []
  const look = (member: unknown, depth: number): string | undefined => {
    if (typeof member === 'string') return member.isWellFormed() ? undefined : 'A text holds half of a surrogate pair.'
    if (typeof member === 'object' && member !== null) waiting.push([member, depth])
    return undefined
  }
  let wrong = look(value, 0)
  for (let next = waiting.pop(); next && !wrong; next = waiting.pop()) {
    const [current, depth] = next
    if (depth >= MAX_DEPTH) return `It is nested deeper than ${MAX_DEPTH} levels.`
    wrong = Array.isArray(current) ? members(current, depth, look) : fields(current, depth, look)
  }
  return wrong
}

type Look = (member: unknown, depth: number) => string | undefined

/** Without an entry per member: a body may be one array of a million numbers. */
const members = (list: readonly unknown[], depth: number, look: Look): string | undefined => {
  for (const member of list) {
    const wrong = look(member, depth + 1)
    if (wrong) return wrong
  }
  return undefined
}

const fields = (object: object, depth: number, look: Look): string | undefined => {
  for (const key of Object.keys(object)) {
    if (!key.isWellFormed()) return 'A key holds half of a surrogate pair.'
    if (key === '__proto__') return 'A key is __proto__.'
    const wrong = look((object as Record<string, unknown>)[key], depth + 1)
    if (wrong) return wrong
  }
  return undefined
}
