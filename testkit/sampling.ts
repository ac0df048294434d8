import { dice } from './dice.ts'

/** True if every case runs (`npm run test:deep`), false for a sample of them (`npm test`). */
export const DEEP = process.env.DEEP === '1'

/** Seed of the samples: 1, unless `SEED` says otherwise. A deep run draws and prints one. */
export const SEED = Number(process.env.SEED ?? 1)

/** Returns true if a case belongs to the sample of one in `every`. A deep run includes all cases. */
export const isSampled = (n: number, every: number): boolean => DEEP || n % every === SEED % every

/** Returns one in `every` of the cases, and at least one. A deep run gets all of them. */
export const sampleOf = <T>(cases: readonly T[], every: number): T[] => {
  const stride = Math.min(every, cases.length)
  return cases.filter((_, n) => isSampled(n, stride))
}

/** Returns how many cases a property runs: a fifth of its full number, or all of them in a deep run. */
export const sampleSize = (full: number): number => (DEEP ? full : Math.ceil(full / 5))

/**
 * Yields the numbers of the calls at which to kill a worker, ascending: all of them in a deep run, else a random one of every
 * `stride`.
 */
export function* deathsAt(limit: number, stride = 6): Generator<number> {
  if (DEEP) {
    for (let n = 1; n < limit; n++) yield n
  } else {
    const roll = dice(SEED)
    for (let start = 1; start < limit; start += stride) yield start + roll.below(stride)
  }
}
