import { isTimeout } from './time-limit.ts'

const ATTEMPTS = 5

/** Resolves after the given time. Rejects with the signal's reason if it is aborted before. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })

/** Returns the ms before the next attempt: exponential up to 15 s with full jitter, and at least as `Retry-After` says. */
const delayBefore = (attempt: number, response: Response | undefined): number => {
  const seconds = Number(response?.headers.get('retry-after'))
  return (seconds > 0 ? Math.min(seconds, 60) * 1_000 : 0) + Math.random() * Math.min(15_000, 250 * 2 ** attempt)
}

/** Busy or failed, or an earlier attempt is still being served. */
const isTemporary = ({ status, headers }: Response): boolean =>
  status === 429 || status >= 500 || (status === 409 && headers.has('retry-after'))

/**
 * Sends a request until it is answered, up to five times. The request must be safe to repeat: a GET, or a POST with an
 * `Idempotency-Key`.
 */
export const sendWithRetries = async (
  request: Request,
  send: (request: Request) => Promise<Response>,
): Promise<Response> => {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === ATTEMPTS
    let response: Response | undefined
    request.signal.throwIfAborted()
    try {
      response = await send(isLast ? request : request.clone())
      if (isLast || !isTemporary(response)) return response
    } catch (error) {
      if (isLast || request.signal.aborted || isTimeout(error)) throw error
    }
    const delay = delayBefore(attempt, response)
    await response?.body?.cancel()
    await pause(delay, request.signal)
  }
}
