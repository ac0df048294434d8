import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 1_000
/** Longer than a busy thread keeps a timer waiting. */
const JUMP_MS = 5_000
/** As long as a request to an agent may take that was open at the jump, and storing its outcome. */
const CALM_MS = 60_000

/** Jumps of the clock: the machine slept, or its clock was set forward. */
export interface Jumps {
  /** Calls back with the length of each jump, before anything that became due by it is handled. */
  onJump(listener: (ms: number) => void): void
  /** Looks for a jump now. Whatever handles due work calls it first, because its timer may fire before all others. */
  look(): void
  /** Resolves at once, or when what was in flight at a jump has had the time to end. */
  calm(): Promise<void>
  stop(): void
}

/** @param now epoch ms */
export const watchJumps = (now: () => number): Jumps => {
  const listeners = new Set<(ms: number) => void>()
  const stopping = new AbortController()
  let seen = now()
  let calmAt = 0

  const look = () => {
    const time = now()
    const jumped = time - seen - LOOK_MS
    seen = time
    if (jumped < JUMP_MS) return
    calmAt = performance.now() + CALM_MS
    for (const listener of listeners) listener(jumped)
  }
  const timer = setInterval(look, LOOK_MS)
  timer.unref()

  return {
    onJump: (listener) => {
      listeners.add(listener)
    },
    look,
    calm: async () => {
      look()
      for (let left = calmAt - performance.now(); left > 0 && !stopping.signal.aborted; ) {
        await sleep(left, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
        left = calmAt - performance.now()
      }
    },
    stop: () => {
      clearInterval(timer)
      stopping.abort()
    },
  }
}

/** For queues and schedules on a clock that doesn't jump. */
export const NO_JUMPS: Jumps = {
  onJump: () => undefined,
  look: () => undefined,
  calm: async () => undefined,
  stop: () => undefined,
}
