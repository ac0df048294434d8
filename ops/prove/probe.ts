import { setTimeout as pause } from 'node:timers/promises'

/** Requests that a probe made, and the first failures among them. */
export interface Probed {
  requests: number
  failures: string[]
}

const EVERY_MS = 1_000
const WITHIN_MS = 10_000

/** `fetch` says only that it failed, and names the reason in the cause. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

/** Requests an address and reads the whole answer. @returns what went wrong, if anything did */
const failureOf = async (url: string, within: number): Promise<string | undefined> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(within) })
    await response.arrayBuffer()
    return response.status === 200 ? undefined : `${response.status}`
  } catch (error) {
    return reasonOf(error)
  }
}

/**
 * Requests an address once a second for as long as work takes. Every answer other than 200, and none in time, is a failure: a
 * client would have seen it.
 *
 * @param within milliseconds for an answer. A machine that is busy with an emulator needs more than a client would wait
 */
export const probeDuring = async <T>(
  url: string,
  work: () => Promise<T>,
  within = WITHIN_MS,
): Promise<{ result: T; probed: Probed }> => {
  const probed: Probed = { requests: 0, failures: [] }
  const over = new AbortController()
  const probe = async () => {
    while (!over.signal.aborted) {
      probed.requests += 1
      const failure = await failureOf(url, within)
      if (failure !== undefined) probed.failures.push(failure)
      await pause(EVERY_MS, undefined, { signal: over.signal }).catch(() => undefined)
    }
  }
  const probing = probe()
  try {
    return { result: await work(), probed }
  } finally {
    over.abort()
    await probing
  }
}

/** Says what a probe saw. @throws if a request failed */
export const requireAll = ({ requests, failures }: Probed): string => {
  if (failures.length > 0)
    throw new Error(`${failures.length} of ${requests} requests failed meanwhile: ${failures.slice(0, 3).join('; ')}`)
  return `${requests} requests meanwhile, none failed`
}
