import type { Platform } from '#local/platform.ts'

/** Maximum number of parallel invocations of a function. */
const AT_ONCE = 12

/**
 * Limits parallel invocations of a function. Deployed, each has its own machine. Here one thread serves them all, and hundreds of
 * them on few cores would all time out.
 * @returns the number of messages that wait or are being handled
 */
export const limitConcurrency = (platform: Pick<Platform, 'intercept'>, functionName: string): (() => number) => {
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
