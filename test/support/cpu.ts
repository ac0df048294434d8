/**
 * What some work answers, with the milliseconds of CPU that this thread spent on it: those are the same on a machine that
 * has other things to do, where the clock on the wall tells of these.
 */
export const timed = <T extends object>(work: () => T): T & { ms: number } => {
  const before = process.threadCpuUsage()
  const result = work()
  const { user, system } = process.threadCpuUsage(before)
  return { ...result, ms: (user + system) / 1_000 }
}

/** The same for work that is waited for, or that answers nothing of interest. */
export const cpuMs = async (work: () => unknown): Promise<number> => {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
