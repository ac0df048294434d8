import { Findings, shown, under } from './finding.ts'

export interface Bounds {
  /** Levels of objects and arrays. */
  depth: number
  /** Values of every kind, keys aside. */
  nodes: number
  /** UTF-16 units of all texts and keys together. */
  characters: number
}

const MAX_KEY = 256

/**
 * Whether a JSON value is small and plain enough for code that recurses over it: depth, size, well-formed Unicode, and
 * no `__proto__` key (which assignment elsewhere would take for the prototype). Walks without recursion and stops early.
 */
export const withinBounds = (value: unknown, bounds: Bounds): Findings => {
  const findings = new Findings()
  const waiting: { value: unknown; path: string; depth: number }[] = [{ value, path: '', depth: 0 }]
  let nodes = 0
  let characters = 0

  const text = (content: string, path: string): void => {
    characters += content.length
    if (!content.isWellFormed())
      findings.add(path, 'The text holds half of a surrogate pair.', 'Use well-formed Unicode.')
  }

  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    nodes += 1
    const { value, path, depth } = next
    if (nodes > bounds.nodes || characters > bounds.characters) {
      findings.add(
        '',
        `It is larger than ${bounds.nodes} values or ${bounds.characters} characters.`,
        'Make it smaller.',
      )
      break
    }
    if (typeof value === 'string') text(value, path)
    if (typeof value !== 'object' || value === null) continue
    if (depth >= bounds.depth) {
      findings.add(path, `It is nested deeper than ${bounds.depth} levels.`, 'Flatten it.')
      break
    }
    for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      if (typeof key === 'string') {
        text(key, path)
        if (key === '__proto__') findings.add(path, 'A key is named __proto__.', 'Give it another name.')
        if (key.length > MAX_KEY)
          findings.add(path, `The key ${shown(key)} is too long.`, `Use at most ${MAX_KEY} characters.`)
      }
      if (findings.full || waiting.length > bounds.nodes) break
      waiting.push({ value: member, path: under(path, key), depth: depth + 1 })
    }
    if (findings.full) break
  }
  return findings
}
