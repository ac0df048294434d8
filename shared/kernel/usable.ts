/** As deep as a value may be nested. JSON.stringify and every reader behind us have limits of their own far above it. */
const MAX_DEPTH = 200

/**
 * Why a JSON value can't be kept as it is: half of a surrogate pair has no UTF-8 form, and what is nested too deep breaks
 * serializers. A key `__proto__` would be lost on the way. Undefined for a value that is fine. Never recursive.
 */
export const unusable = (value: unknown): string | undefined => {
  const waiting: [value: unknown, depth: number][] = [[value, 0]]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [current, depth] = next
    if (typeof current === 'string' && !current.isWellFormed()) return 'A text holds half of a surrogate pair.'
    if (typeof current !== 'object' || current === null) continue
    if (depth >= MAX_DEPTH) return `It is nested deeper than ${MAX_DEPTH} levels.`
    for (const [key, member] of Object.entries(current)) {
      if (!key.isWellFormed()) return 'A key holds half of a surrogate pair.'
      if (key === '__proto__') return 'A key is __proto__.'
      waiting.push([member, depth + 1])
    }
  }
  return undefined
}
