import type { Write } from '#shared/table/entity.ts'

/** Returns the key of a write's item, to find writes of the same item. */
export const itemOf = ({ key }: Write): string => `${key.pk}\n${key.sk}`

/** Adds decimals without floating-point errors. A number holds fifteen digits exactly. */
const addDecimals = (a: number, b: number): number => Number((a + b).toPrecision(15))

type Counts = Record<string, number | undefined>

const mergePair = (a: Write, b: Write): Write => {
  if (!a.changes?.add || !b.changes?.add) throw new Error(`two writes of one ${a.entity.name}`)
  const add: Counts = { ...a.changes.add }
  for (const [field, n] of Object.entries(b.changes.add as Counts)) add[field] = addDecimals(add[field] ?? 0, n ?? 0)
  return { ...a, changes: { ...a.changes, add: add as Record<string, number> } }
}

const onlyCounts = ({ changes }: Write): boolean => changes?.add !== undefined

/** Drops the fields with an increment of zero. */
const withoutZeros = (write: Write): Write => {
  const counts = Object.entries(write.changes?.add as Counts).filter(([, n]) => n)
  return { ...write, changes: { ...write.changes, add: Object.fromEntries(counts) as Record<string, number> } }
}

/**
 * Merges the writes of each item into one by adding up their increments. Increments that add up to zero are dropped.
 * Other writes are unchanged.
 */
export const mergeWrites = (writes: readonly Write[]): Write[] => {
  const byItem = new Map<string, Write>()
  for (const write of writes) {
    const known = byItem.get(itemOf(write))
    byItem.set(itemOf(write), known ? mergePair(known, write) : write)
  }
  return [...byItem.values()]
    .map((write) => (onlyCounts(write) ? withoutZeros(write) : write))
    .filter((write) => !onlyCounts(write) || Object.keys(write.changes?.add ?? {}).length > 0)
}
