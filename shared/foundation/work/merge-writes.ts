import { isDeepStrictEqual } from 'node:util'
import type { Write } from '#shared/table/entity.ts'

/**
 * Merges writes to the same item, because a transaction accepts one write per item. Identical checks become one, and
 * additions to counters are summed. Other duplicates stay, and the store rejects them.
 */
export const mergeWrites = (writes: readonly Write[]): Write[] => {
  const found: Write[] = []
  for (const write of writes) {
    const i = found.findIndex(({ key }) => key.pk === write.key.pk && key.sk === write.key.sk)
    const both = i < 0 ? undefined : joined(found[i] as Write, write)
    if (both) found[i] = both
    else found.push(write)
  }
  return found
}

const joined = (one: Write, other: Write): Write | undefined => {
  if (one.kind !== other.kind || !isDeepStrictEqual(one.where, other.where)) return undefined
  if (one.kind === 'check') return one
  const { add, ...changes } = one.changes ?? {}
  const { add: more, ...same } = other.changes ?? {}
  if (one.kind !== 'update' || !add || !more || !isDeepStrictEqual(changes, same)) return undefined
  return { ...one, changes: { ...changes, add: sum(add, more) } }
}

type Amounts = Record<string, number | undefined>

const sum = (one: Amounts, other: Amounts): Amounts => ({
  ...one,
  ...Object.fromEntries(Object.entries(other).map(([field, n]) => [field, (one[field] ?? 0) + (n ?? 0)])),
})
