import { setTimeout as pause } from 'node:timers/promises'

/** Requests that a probe made, and the first failures among them. */
export interface Probed {
  requests: number
  failures: string[]
}

const EVERY_MS = 1_000
const WITHIN_MS = 10_000

/**
 * Requests an address once a second for as long as work takes. Every answer other than 200, and none within ten seconds, is a
 * failure: a client would have seen it.
 */
export const probeDuring = async <T>(url: string, work: () => Promise<T>): Promise<{ result: T; probed: Probed }> => {
  const probed: Probed = { requests: 0, failures: [] }
  const over = new AbortController()
  const probe = async () => {
    while (!over.signal.aborted) {
      probed.requests += 1
      await fetch(url, { signal: AbortSignal.timeout(WITHIN_MS) }).then(
        async (response) => {
          await response.arrayBuffer()
          if (response.status !== 200) probed.failures.push(`${response.status}`)
        },
        (error: Error) => probed.failures.push(error.message),
      )
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
