import { expect } from 'vitest'
import { killAfter } from '#testkit/faults.ts'
import type { TestPlatform } from '#testkit/platform.ts'
import { DEEP, deathsAt } from '#testkit/sampling.ts'

/**
 * Runs steps, of which the one that makes the fatal call fails, and so do all that follow. A step may ask how many calls were made.
 * @returns true if the fatal call was made
 */
export type Dying = (...steps: ((made: () => number) => Promise<unknown>)[]) => Promise<boolean>

interface Deaths {
  limit: number
  stride?: number
  /** Whether reads of the table count; by default, they do. */
  counted?: Parameters<typeof killAfter>[2]
  /** A death that an attempt reaches at least. */
  least?: number
}

/**
 * Repeats an attempt that dies at one call after the other. A deep run goes on to the attempt that survives.
 * @param attempt runs in `dying` what is to die, and then checks what became of it
 */
export const dieAtEach = async (
  platform: TestPlatform,
  { limit, stride, counted = 'calls', least = 1 }: Deaths,
  attempt: (n: number, dying: Dying) => Promise<void>,
): Promise<void> => {
  let last = 0
  let survived = false
  for (const n of deathsAt(limit, stride)) {
    let reached = false
    await attempt(n, async (...steps) => {
      const kill = killAfter(platform, n, counted)
      for (const step of steps) await step(kill.effects).catch(() => undefined)
      reached = kill.restore()
      return reached
    })
    if (!reached) {
      survived = true
      break
    }
    last = n
  }
  expect(last).toBeGreaterThanOrEqual(least)
  // A deep run kills at every call, up to the last.
  expect(survived || !DEEP).toBe(true)
}

/** Lets the platform find and complete what a dead worker left. @param ms time after which it looks, several times */
export const recover = async (platform: TestPlatform, ms: number, rounds = 3): Promise<void> => {
  for (let round = 0; round < rounds; round++) {
    platform.clock.advance(ms)
    await platform.sweep()
    await platform.drain()
  }
}
