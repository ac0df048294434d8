/**
 * Runs some work and returns its result with the milliseconds of CPU that this thread used. Unlike wall-clock time, CPU time doesn't
 * depend on other load on the machine.
 */
export const timed = <T extends object>(work: () => T): T & { ms: number } => {
  const before = process.threadCpuUsage()
  const result = work()
  const { user, system } = process.threadCpuUsage(before)
  return { ...result, ms: (user + system) / 1_000 }
}

/** Measures the CPU of work that is asynchronous, or whose result doesn't matter. */
export const cpuMs = async (work: () => unknown): Promise<number> => {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
