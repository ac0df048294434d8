import { appendPointer, Findings, quoteName } from './finding.ts'

export interface Bounds {
  /** Levels of objects and arrays. */
  depth: number
  /** Values of any kind, not counting keys. */
  nodes: number
  /** Total UTF-16 units of all strings and keys. */
  characters: number
}

/** Longest accepted name of a member. */
export const MAX_KEY = 256

const FORBIDDEN_KEY = '__proto__'

/** Tells whether a value may have a member of this name. */
export const isAcceptedKey = (name: string): boolean => name !== FORBIDDEN_KEY && name.length <= MAX_KEY

/**
 * Checks that a JSON value is safe for code that recurses over it: depth, size, well-formed Unicode and no `__proto__`
 * key, which an assignment elsewhere would treat as the prototype. Walks without recursion and stops early.
 */
export const withinBounds = (value: unknown, bounds: Bounds): Findings => {
  const findings = new Findings()
  const waiting: { value: unknown; path: string; depth: number }[] = [{ value, path: '', depth: 0 }]
  let nodes = 0
  let characters = 0

  const text = (content: string, path: string): void => {
    characters += content.length
    if (!content.isWellFormed())
      findings.add(path, 'The string contains an unpaired surrogate.', 'Use well-formed Unicode.')
  }

  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    nodes += 1
    const { value, path, depth } = next
    if (nodes > bounds.nodes || characters > bounds.characters) {
      findings.add(
        '',
        `The value is larger than ${bounds.nodes} values or ${bounds.characters} characters.`,
        'Make it smaller.',
      )
      break
    }
    if (typeof value === 'string') text(value, path)
    if (typeof value !== 'object' || value === null) continue
    if (depth >= bounds.depth) {
      findings.add(path, `The value is nested deeper than ${bounds.depth} levels.`, 'Flatten it.')
      break
    }
    for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      if (typeof key === 'string') {
        text(key, path)
        if (key === FORBIDDEN_KEY) findings.add(path, 'A key is named __proto__.', 'Rename the key.')
        if (key.length > MAX_KEY)
          findings.add(path, `The key ${quoteName(key)} is longer than ${MAX_KEY} characters.`, 'Shorten the key.')
      }
      if (findings.full || waiting.length > bounds.nodes) break
      waiting.push({ value: member, path: appendPointer(path, key), depth: depth + 1 })
    }
    if (findings.full) break
  }
  return findings
}

/** Tells whether every interface of a model and every framework takes the name of an argument. */
export const isPortableName = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name)
