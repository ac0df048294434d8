/**
 * Sends requests with a time limit, which includes the body of the response.
 * @param ms The runtime has no limit of its own for a connection that is open and silent.
 */
export const fetchWithin =
  (ms: number) =>
  async (request: Request): Promise<Response> => {
    const limit = new AbortController()
    const stop = () => limit.abort(request.signal.reason)
    if (request.signal.aborted) stop()
    request.signal.addEventListener('abort', stop, { once: true })
    const timer = setTimeout(() => limit.abort(new DOMException(`No response within ${ms} ms.`, 'TimeoutError')), ms)
    try {
      const response = await fetch(request, { signal: limit.signal })
      // The process may end before the body does, if no one reads it.
      ;(timer as { unref?: () => void }).unref?.()
      return response
    } catch (error) {
      clearTimeout(timer)
      request.signal.removeEventListener('abort', stop)
      throw error
    }
  }

/** A repeat would wait as long again. */
export const isTimeout = (error: unknown): boolean => (error as Error | undefined)?.name === 'TimeoutError'
