/** The work of this round is used up; the next goes on. */
export class Paused extends Error {}

/** How much one round may do, so that it ends before its function does. */
export interface Budget {
  /** Records. */
  left: number
  /** In ms of `performance.now()`. */
  until: number
  /** What it is a share of. */
  of?: Budget
}

/** @throws {Paused} */
export const spend = (budget: Budget): void => {
  budget.left -= 1
  if (budget.left < 0 || performance.now() > budget.until) throw new Paused('the work of this round is used up')
  if (budget.of) spend(budget.of)
}

export const isSpent = ({ left, until }: Budget): boolean => left <= 0 || performance.now() >= until

/**
 * One of `among` equal shares of what is left, which is bounded by that. What it leaves over is there for the others.
 * @param least records and ms with which also what is large comes to a place from which the next round goes on
 */
export const shareOf = (budget: Budget, among: number, least: { records: number; ms: number }): Budget => {
  const now = performance.now()
  return {
    left: Math.max(least.records, Math.ceil(budget.left / among)),
    until: now + Math.max(least.ms, (budget.until - now) / among),
    of: budget,
  }
}

/** Does all, and waits for all, before it fails with the first that did. */
export const allOf = async (tasks: readonly (() => Promise<void>)[]): Promise<void> => {
  const results = await Promise.allSettled(tasks.map((task) => task()))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** Lets so many through at a time. */
export const gate = (size: number) => {
  const waiting: (() => void)[] = []
  let free = size
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1
    else await new Promise<void>((enter) => waiting.push(enter))
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
