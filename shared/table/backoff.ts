import { setTimeout as wait } from 'node:timers/promises'

/** Waits before the next try: exponential with full jitter, 10 ms doubling up to 400 ms. */
export const backoff = (attempt: number): Promise<void> => wait(Math.random() * Math.min(400, 10 * 2 ** attempt))
