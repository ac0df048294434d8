import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { ConditionFailed, type Ref, type Write } from '#shared/table/entity.ts'
import { backoff } from '#shared/table/retry.ts'
import { itemOf, mergeWrites } from './merge.ts'

/** A change to be counted exactly once. */
export interface Countable {
  /** Grouping key. Countables with the same key update the same counters and are written together. */
  near: string
  /** Records that its writes depend on. @param again true after a failed attempt, when known state may be outdated */
  reads(again: boolean): readonly Ref[]
  /**
   * Returns its own write, whose condition ensures that it counts once, and its increments of shared counters. Empty if
   * there is nothing left to count.
   * @param read in the order of `reads`
   */
  writes(read: readonly unknown[]): Write[]
}

/** Maximum number of items in one transaction. */
const ITEMS = 100

/** Maximum number of counters in one write, because its expression is limited to 4 KB. */
const COUNTERS = 60

/** Maximum number of attempts when losing against other writers. Each attempt reads fresh state. */
const ROUNDS = 10

/**
 * Rounds with merged transactions. Afterwards each countable is written alone, so that a failing one doesn't block
 * others.
 */
const TOGETHER = 2

/**
 * Maximum number of failed transactions per batch. Each was already retried for up to two seconds, so the store is
 * unhealthy.
 */
const FAULTS = 8

interface Attempt {
  keys: string[]
  writes: Write[]
}

type Left = readonly (readonly [key: string, countable: Countable])[]

/**
 * Counts each countable exactly once, merging many into one transaction with one write per counter. A transaction that
 * conflicts with earlier counts or concurrent changes is rebuilt from fresh state. Remaining ones are written alone.
 * @returns the errors of those that couldn't be counted, by key
 */
export const countExactlyOnce = async (
  work: Pick<WorkerWork, 'table'>,
  all: ReadonlyMap<string, Countable>,
): Promise<Map<string, unknown>> => {
  const failed = new Map<string, unknown>()
  let faults = 0
  let left: Left = [...all].toSorted(([, a], [, b]) => (a.near < b.near ? -1 : a.near > b.near ? 1 : 0))
  for (let round = 0; left.length > 0; round++) {
    if (round > 0) await backoff(round)
    const again = new Set<string>()
    for (const { keys, writes } of await buildAttempts(work, left, round, failed)) {
      const error = faults < FAULTS ? await tryTransaction(work, writes) : new Error('too many transactions failed')
      if (error === undefined) continue
      const lost = error instanceof ConditionFailed
      if (!lost) faults++
      const over = lost ? round >= ROUNDS : keys.length === 1 || faults >= FAULTS
      for (const key of keys) {
        if (over) failed.set(key, error)
        else again.add(key)
      }
    }
    left = left.filter(([key]) => again.has(key))
  }
  return failed
}

const tryTransaction = async ({ table }: Pick<WorkerWork, 'table'>, writes: Write[]): Promise<unknown> => {
  try {
    await table.transact(mergeWrites(writes))
    return undefined
  } catch (error) {
    return error ?? new Error('the transaction failed')
  }
}

/** Reads the state of all countables in one batch and builds transactions from their writes. */
const buildAttempts = async (
  { table }: Pick<WorkerWork, 'table'>,
  left: Left,
  round: number,
  failed: Map<string, unknown>,
): Promise<Attempt[]> => {
  const refs = left.map(([, countable]) => countable.reads(round > 0))
  let found: readonly unknown[]
  try {
    found = await table.getAll(refs.flat())
  } catch (error) {
    for (const [key] of left) failed.set(key, error)
    return []
  }
  const each: Attempt[] = []
  let place = 0
  for (const [i, [key, countable]] of left.entries()) {
    const end = place + (refs[i]?.length ?? 0)
    try {
      const writes = countable.writes(found.slice(place, end))
      if (writes.length > 0) each.push({ keys: [key], writes })
    } catch (error) {
      failed.set(key, error)
    }
    place = end
  }
  return round < TOGETHER ? mergeAttempts(each) : each
}

/** Adds the counters of these writes to those of a group, by item. */
const adding = (to: ReadonlyMap<string, ReadonlySet<string>>, writes: readonly Write[]) => {
  const both = new Map(to)
  for (const write of writes) {
    const item = itemOf(write)
    both.set(item, new Set([...(both.get(item) ?? []), ...Object.keys(write.changes?.add ?? {})]))
  }
  return both
}

/** Merges consecutive attempts as long as they fit into one transaction. */
const mergeAttempts = (each: readonly Attempt[]): Attempt[] => {
  const groups: Attempt[] = []
  let counters: ReadonlyMap<string, ReadonlySet<string>> = new Map()
  for (const { keys, writes } of each) {
    const group = groups.at(-1)
    const both = adding(counters, writes)
    if (group && both.size <= ITEMS && [...both.values()].every(({ size }) => size <= COUNTERS)) {
      group.keys.push(...keys)
      group.writes.push(...writes)
      counters = both
    } else {
      groups.push({ keys: [...keys], writes: [...writes] })
      counters = adding(new Map(), writes)
    }
  }
  return groups
}
