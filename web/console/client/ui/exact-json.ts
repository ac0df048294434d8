/** A JSON value as it was written: numbers keep their digits, and an object keeps a key that it has twice. */
export type Exact =
  | { kind: 'object'; entries: { name: string; value: Exact }[] }
  | { kind: 'list'; items: Exact[] }
  | { kind: 'text'; text: string }
  /** A number, `true`, `false` or `null`. */
  | { kind: 'plain'; text: string }

/** Deepest value that is shown as a tree. */
const DEPTH = 40

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}]|[^\s,:[\]{}"]+/g

/** Parses an object or a list. Returns undefined for any other text, and for values that are nested too deeply. */
export const parseExact = (text: string): Exact | undefined => {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    // The tokens of valid JSON need no further check.
    JSON.parse(text)
  } catch {
    return undefined
  }
  const tokens = text.match(TOKENS) ?? []
  let at = 0
  let isTooDeep = false
  const read = (depth: number): Exact => {
    if (depth > DEPTH) isTooDeep = true
    const token = tokens[at++] ?? ''
    if (isTooDeep) return { kind: 'plain', text: '' }
    if (token === '[') {
      const items: Exact[] = []
      while (!isTooDeep && tokens[at] !== ']') items.push(read(depth + 1))
      at++
      return { kind: 'list', items }
    }
    if (token === '{') {
      const entries: { name: string; value: Exact }[] = []
      while (!isTooDeep && tokens[at] !== '}') {
        const name = JSON.parse(tokens[at++] ?? '""') as string
        entries.push({ name, value: read(depth + 1) })
      }
      at++
      return { kind: 'object', entries }
    }
    return token.startsWith('"') ? { kind: 'text', text: JSON.parse(token) } : { kind: 'plain', text: token }
  }
  const value = read(0)
  return isTooDeep ? undefined : value
}

/** Lists the values within a value, each with its place. A key that an object has twice gives the place a number. */
export const leavesOf = (value: Exact, place = ''): [place: string, text: string][] => {
  if (value.kind === 'text') return [[place, JSON.stringify(value.text)]]
  if (value.kind === 'plain') return [[place, value.text]]
  const parts =
    value.kind === 'list'
      ? value.items.map((item, i) => ({ name: String(i + 1), value: item }))
      : value.entries.map(({ name, value: one }, i) => {
          const before = value.entries.slice(0, i).filter((entry) => entry.name === name).length
          return { name: before > 0 ? `${name} (${before + 1})` : name, value: one }
        })
  if (parts.length === 0) return [[place, value.kind === 'list' ? '[]' : '{}']]
  return parts.flatMap((part) => leavesOf(part.value, place ? `${place} › ${part.name}` : part.name))
}
