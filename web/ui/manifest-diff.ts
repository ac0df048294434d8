export interface Difference {
  /** Path, such as `tools › search › description`. */
  place: string
  before?: string
  after?: string
}

interface Leaf {
  place: string
  value: unknown
}

/** One step of a value's path. Paths are unique within a manifest, even if names repeat. */
type Step = string | readonly [key: string, nth: number]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Identifies a list item by name, so that inserting an item doesn't make all later ones look changed. */
const keyOf = (item: unknown, index: number): string => {
  if (!isObject(item)) return Array.isArray(item) ? String(index) : JSON.stringify(item)
  const name = item.name ?? item.id ?? item.key
  return typeof name === 'string' ? name : String(index)
}

const shown = (step: Step): string => {
  if (typeof step === 'string') return step
  const [key, nth] = step
  return nth === 1 ? key : `${key} (${nth})`
}

const leavesOf = (value: unknown, path: readonly Step[] = [], found = new Map<string, Leaf>()): Map<string, Leaf> => {
  if (Array.isArray(value) && value.length > 0) {
    const seen = new Map<string, number>()
    for (const [i, item] of value.entries()) {
      const key = keyOf(item, i)
      const nth = (seen.get(key) ?? 0) + 1
      seen.set(key, nth)
      leavesOf(item, [...path, [key, nth]], found)
    }
  } else if (isObject(value) && Object.keys(value).length > 0) {
    for (const [name, one] of Object.entries(value)) leavesOf(one, [...path, name], found)
  } else {
    found.set(JSON.stringify(path), { place: path.map(shown).join(' › '), value })
  }
  return found
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Lists every added, removed or changed value, in manifest order. */
export const diffManifests = (before: unknown, after: unknown): Difference[] => {
  const [old, now] = [leavesOf(before), leavesOf(after)]
  return [...new Set([...now.keys(), ...old.keys()])].flatMap((way) => {
    const [was, is] = [old.get(way), now.get(way)]
    if (was && is && JSON.stringify(was.value) === JSON.stringify(is.value)) return []
    // Quotes distinguish a number from a string with the same digits.
    const text = was && is && plain(was.value) === plain(is.value) ? JSON.stringify : plain
    const place = (is ?? was)?.place ?? ''
    return [{ place, ...(was && { before: text(was.value) }), ...(is && { after: text(is.value) }) }]
  })
}
