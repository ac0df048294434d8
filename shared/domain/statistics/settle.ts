import { backoff } from '../../table/backoff.ts'
import { ConditionFailed, type Write } from '../../table/entity.ts'
import type { Ref } from '../../table/table.ts'
import type { WorkerWork } from '../deps.ts'
import { itemOf, merged } from './merge.ts'

/** Something that is to be counted exactly once. */
export interface Countable {
  /** What is near one another adds to the same counters, and is counted together. */
  near: string
  /** What its writes depend on. @param again an attempt failed: what was known before may be wrong */
  reads(again: boolean): readonly Ref[]
  /**
   * Its own write, whose condition sees to it that it counts once, and what it adds to counters that it shares with others.
   * None: there is nothing to count any more.
   * @param read in the order of `reads`
   */
  writes(read: readonly unknown[]): Write[]
}

/** What one transaction takes. */
const ITEMS = 100
/** Of one item, in one write: its expression has 4 KB at most. */
const COUNTERS = 60
/** Attempts at what loses against other writers, as for anything that reads afresh each time. */
const ROUNDS = 10
/** Rounds in which many go together; from then on each goes alone, so that one that cannot be counted keeps no other back. */
const TOGETHER = 2
/** Transactions that the store may fail in one batch. Each was tried for up to two seconds before: the store is not well. */
const FAULTS = 8

interface Attempt {
  keys: string[]
  writes: Write[]
}

type Left = readonly (readonly [key: string, one: Countable])[]

/**
 * Counts each exactly once, many in one transaction, in which each counter is one write. A transaction that meets what was
 * counted before, or what changed meanwhile, is made again from what is so now; what is left after that goes alone.
 * @returns what could not be counted, and why
 */
export const settle = async (
  work: Pick<WorkerWork, 'table'>,
  all: ReadonlyMap<string, Countable>,
): Promise<Map<string, unknown>> => {
  const failed = new Map<string, unknown>()
  let faults = 0
  let left: Left = [...all].toSorted(([, a], [, b]) => (a.near < b.near ? -1 : a.near > b.near ? 1 : 0))
  for (let round = 0; left.length > 0; round++) {
    if (round > 0) await backoff(round)
    const again = new Set<string>()
    for (const { keys, writes } of await attemptsAt(work, left, round, failed)) {
      const error = faults < FAULTS ? await tried(work, writes) : new Error('the store failed too often')
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

const tried = async ({ table }: Pick<WorkerWork, 'table'>, writes: Write[]): Promise<unknown> => {
  try {
    await table.transact(merged(writes))
    return undefined
  } catch (error) {
    return error ?? new Error('the store failed')
  }
}

/** Reads what all of them depend on, at once, and puts what they write into transactions. */
const attemptsAt = async (
  { table }: Pick<WorkerWork, 'table'>,
  left: Left,
  round: number,
  failed: Map<string, unknown>,
): Promise<Attempt[]> => {
  const refs = left.map(([, one]) => one.reads(round > 0))
  let found: readonly unknown[]
  try {
    found = await table.getAll(refs.flat())
  } catch (error) {
    for (const [key] of left) failed.set(key, error)
    return []
  }
  const each: Attempt[] = []
  let place = 0
  for (const [i, [key, one]] of left.entries()) {
    const end = place + (refs[i]?.length ?? 0)
    try {
      const writes = one.writes(found.slice(place, end))
      if (writes.length > 0) each.push({ keys: [key], writes })
    } catch (error) {
      failed.set(key, error)
    }
    place = end
  }
  return round < TOGETHER ? together(each) : each
}

/** Adds what a write adds to, to what a group's writes add to, by item. */
const adding = (to: ReadonlyMap<string, ReadonlySet<string>>, writes: readonly Write[]) => {
  const both = new Map(to)
  for (const write of writes) {
    const item = itemOf(write)
    both.set(item, new Set([...(both.get(item) ?? []), ...Object.keys(write.changes?.add ?? {})]))
  }
  return both
}

/** As many in a row as fit into one transaction. */
const together = (each: readonly Attempt[]): Attempt[] => {
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
