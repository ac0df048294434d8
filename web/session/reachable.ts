/** Pauses before the next attempt: doubling, with jitter, so that pages don't come back all at once. */
const RETRY_MS = { first: 1_000, most: 10_000 }

const waiting = new Set<() => void>()
let pause = RETRY_MS.first
let timer: ReturnType<typeof setTimeout> | undefined

const attempt = (): void => {
  clearTimeout(timer)
  timer = undefined
  const attempts = [...waiting]
  waiting.clear()
  for (const one of attempts) one()
}

/**
 * Calls a function when the platform may be reachable again: the device is online, another request was answered, or some time
 * has passed. If it fails once more, it waits once more.
 * @returns a function that stops waiting
 */
export const whenReachable = (act: () => void): (() => void) => {
  waiting.add(act)
  timer ??= setTimeout(
    () => {
      pause = Math.min(pause * 2, RETRY_MS.most)
      attempt()
    },
    pause * (0.5 + Math.random() / 2),
  )
  return () => waiting.delete(act)
}

/** Tells those that wait that the platform answered. */
export const reached = (): void => {
  pause = RETRY_MS.first
  if (waiting.size > 0) attempt()
}

addEventListener('online', reached)
