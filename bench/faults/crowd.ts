import type { Platform } from '#local/platform.ts'

/** Invocations of one function that run at once. */
const AT_ONCE = 12

/**
 * Lets only so many invocations of a function in. Deployed, each has a machine of its own; here one thread serves them all,
 * and with hundreds at once on few cores none would end within its time.
 * @returns how many messages wait for their turn or are being handled
 */
export const limitCrowd = (platform: Pick<Platform, 'intercept'>, functionName: string): (() => number) => {
  const waiting: (() => void)[] = []
  let running = 0
  let messages = 0
  platform.intercept(functionName, async (event, next) => {
    const { length } = (event as { Records: unknown[] }).Records
    messages += length
    if (running >= AT_ONCE) await new Promise<void>((enter) => waiting.push(enter))
    else running += 1
    try {
      return await next(event)
    } finally {
      messages -= length
      const enter = waiting.shift()
      if (enter) enter()
      else running -= 1
    }
  })
  return () => messages
}
