/** Thrown when this round's budget is used up. The next round continues. */
export class BudgetExhausted extends Error {}

/** Limit on the work of one round, so that it ends before its function does. */
export interface Budget {
  /** Remaining records. */
  left: number
  /** End time in ms of `performance.now()`. */
  until: number
  /** The budget that this one is a share of. */
  of?: Budget
}

/**
 * Spends one record of the budget.
 * @throws {BudgetExhausted} if the budget is used up
 */
export const spendBudget = (budget: Budget): void => {
  budget.left -= 1
  if (budget.left < 0 || performance.now() > budget.until)
    throw new BudgetExhausted('the work of this round is used up')
  if (budget.of) spendBudget(budget.of)
}

export const isSpent = ({ left, until }: Budget): boolean => left <= 0 || performance.now() >= until

/**
 * Returns one of `among` equal shares of the remaining budget, which also bounds it. Other shares can use what this
 * share leaves.
 * @param least records and ms that let even a large item reach a point from which the next round continues
 */
export const shareOf = (budget: Budget, among: number, least: { records: number; ms: number }): Budget => {
  const now = performance.now()
  return {
    left: Math.max(least.records, Math.ceil(budget.left / among)),
    until: now + Math.max(least.ms, (budget.until - now) / among),
    of: budget,
  }
}

/** Runs all tasks and waits for all of them before throwing the first error. */
export const settleAll = async (tasks: readonly (() => Promise<void>)[]): Promise<void> => {
  const results = await Promise.allSettled(tasks.map((task) => task()))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** Limits concurrency to `size`. */
export const createConcurrencyLimit = (size: number) => {
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
