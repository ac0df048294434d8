import type { Write } from '../../table/entity.ts'

/** A place in the table, to tell writes of one item from those of another. */
export const itemOf = ({ key }: Write): string => `${key.pk}\n${key.sk}`

/** Sums of decimals, without the dust of binary ones: fifteen digits are what a number keeps exactly. */
const plus = (a: number, b: number): number => Number((a + b).toPrecision(15))

type Counts = Record<string, number | undefined>

const together = (a: Write, b: Write): Write => {
  if (!a.changes?.add || !b.changes?.add) throw new Error(`two writes of one ${a.entity.name}`)
  const add: Counts = { ...a.changes.add }
  for (const [field, n] of Object.entries(b.changes.add as Counts)) add[field] = plus(add[field] ?? 0, n ?? 0)
  return { ...a, changes: { ...a.changes, add: add as Record<string, number> } }
}

const onlyCounts = ({ changes }: Write): boolean => changes?.add !== undefined

/** Without the fields to which nothing is added. */
const lean = (write: Write): Write => {
  const counts = Object.entries(write.changes?.add as Counts).filter(([, n]) => n)
  return { ...write, changes: { ...write.changes, add: Object.fromEntries(counts) as Record<string, number> } }
}

/**
 * One write for each item: what is added to the same counters becomes one sum. Counters to which nothing comes in the end are
 * left out; everything else is as it was.
 */
export const merged = (writes: readonly Write[]): Write[] => {
  const byItem = new Map<string, Write>()
  for (const write of writes) {
    const known = byItem.get(itemOf(write))
    byItem.set(itemOf(write), known ? together(known, write) : write)
  }
  return [...byItem.values()]
    .map((write) => (onlyCounts(write) ? lean(write) : write))
    .filter((write) => !onlyCounts(write) || Object.keys(write.changes?.add ?? {}).length > 0)
}
