/** Lets a poller pass, or blocks it while a test has paused it. */
export interface Gate {
  pause(): void
  resume(): void
  readonly open: boolean
  /** Resolves at once, or when the gate opens again. */
  passed(): Promise<void>
}

export const createGate = (): Gate => {
  let waiting: (() => void)[] | undefined
  return {
    get open() {
      return waiting === undefined
    },
    pause: () => {
      waiting ??= []
    },
    resume: () => {
      const held = waiting ?? []
      waiting = undefined
      for (const pass of held) pass()
    },
    passed: () => {
      const held = waiting
      return held ? new Promise((resolve) => held.push(resolve)) : Promise.resolve()
    },
  }
}

/** A sleep that can be ended early. */
export interface Alarm {
  sleep(ms: number): Promise<void>
  wake(): void
}

export const createAlarm = (): Alarm => {
  let end: (() => void) | undefined
  return {
    sleep: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => end?.(), ms)
        end = () => {
          end = undefined
          clearTimeout(timer)
          resolve()
        }
      }),
    wake: () => end?.(),
  }
}
