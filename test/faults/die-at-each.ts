import { expect } from 'vitest'
import { killAfter } from '#testkit/faults.ts'
import type { TestPlatform } from '#testkit/platform.ts'
import { DEEP, deathsAt } from '#testkit/sampling.ts'

/** Runs steps, of which the one that makes the fatal call fails, and so do all that follow. */
export type Dying = (...steps: (() => Promise<unknown>)[]) => Promise<void>

/**
 * Repeats an attempt that dies at one call to the store after the other. A deep run goes on to the attempt that survives.
 * @param attempt runs in `dying` what is to die, and then checks what became of it
 */
export const dieAtEach = async (
  platform: TestPlatform,
  { limit, stride }: { limit: number; stride: number },
  attempt: (n: number, dying: Dying) => Promise<void>,
): Promise<void> => {
  let points = 0
  let survived = false
  for (const n of deathsAt(limit, stride)) {
    let reached = false
    await attempt(n, async (...steps) => {
      const kill = killAfter(platform, n, 'calls')
      for (const step of steps) await step().catch(() => undefined)
      reached = kill.restore()
    })
    if (!reached) {
      survived = true
      break
    }
    points++
  }
  expect(points).toBeGreaterThan(0)
  // A deep run kills at every call, up to the last.
  expect(survived || !DEEP).toBe(true)
}

/** Lets the platform find and complete what a dead worker left. @param ms time after which it looks */
export const recover = async (platform: TestPlatform, ms: number): Promise<void> => {
  for (let round = 0; round < 3; round++) {
    platform.clock.advance(ms)
    await platform.sweep()
    await platform.drain()
  }
}
