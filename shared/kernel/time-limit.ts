/** Delay of a timer that shows that the process was stopped meanwhile, as on a laptop that sleeps. */
const STOPPED_MS = 1_000

/** A running time limit. */
export interface TimeLimit {
  clear(): void
}

/**
 * Calls `expired` once a limit has passed. A limit that passed while the process was stopped begins again. On waking, timers
 * fire before sockets are read, so an answer that came in time would be called late.
 *
 * @param options.holds false lets the process end before the limit
 */
export const startTimeLimit = (ms: number, expired: () => void, { holds = true } = {}): TimeLimit => {
  let timer: NodeJS.Timeout | undefined
  const begin = () => {
    const due = performance.now() + ms
    timer = setTimeout(() => (performance.now() - due < STOPPED_MS ? expired() : begin()), ms)
    if (!holds) timer.unref()
  }
  begin()
  return { clear: () => clearTimeout(timer) }
}

/** Returns a signal that aborts once a limit has passed, as `AbortSignal.timeout` does, but not because the process was stopped. */
export const timeLimitSignal = (ms: number): AbortSignal => {
  const controller = new AbortController()
  startTimeLimit(ms, () => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')), {
    holds: false,
  })
  return controller.signal
}
