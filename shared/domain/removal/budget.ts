/** The work of this round is used up; the next goes on. */
export class Paused extends Error {}

/** How much one round may do, so that it ends before its function does. */
export interface Budget {
  /** Records. */
  left: number
  /** In ms of `performance.now()`. */
  until: number
}

/** @throws {Paused} */
export const spend = (budget: Budget): void => {
  budget.left -= 1
  if (budget.left < 0 || performance.now() > budget.until) throw new Paused('the work of this round is used up')
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
