import type { Platform } from '#local/platform.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import type { Dice } from '#testkit/dice.ts'
import type { Tally } from './tally.ts'

/** Clocks of the functions: one time that jumps, plus an error for each function. */
export interface Clocks {
  /** Returns the platform's time in epoch ms. */
  now(): number
  /** Moves all clocks at once, forwards or (negative) backwards. */
  jump(ms: number): void
  /** Sets one function's clock wrong by some seconds. */
  skew(functionName: string): void
  /** Returns the ms that really passed since a time by these clocks. Time skipped by a jump doesn't count, repeated time does. */
  since(time: number): number
}

const SKEW = 10 * SECOND

/** Returns the part of a jump after a time. A backward jump counts in full or not at all. */
const passedOver = ({ from, to }: { from: number; to: number }, time: number): number => {
  if (time <= Math.min(from, to)) return to - from
  return time < to ? to - time : 0
}

export const createClocks = (platform: Pick<Platform, 'shiftClock' | 'model'>, roll: Dice, tally: Tally): Clocks => {
  let offset = 0
  /** Start and end of each jump. */
  const jumps: { from: number; to: number }[] = []
  const skews = new Map<string, number>()
  const now = () => Date.now() + offset
  return {
    now,
    jump: (ms) => {
      tally.count(ms > 0 ? 'all clocks jump forwards' : 'all clocks jump backwards')
      const from = now()
      offset += ms
      jumps.push({ from, to: from + ms })
      for (const { name } of platform.model.functions) platform.shiftClock(offset + (skews.get(name) ?? 0), name)
    },
    skew: (name) => {
      tally.count(`one function’s clock is set wrong (up to ${SKEW / SECOND} s either way)`)
      const skew = roll.below(2 * SKEW) - SKEW
      skews.set(name, skew)
      platform.shiftClock(offset + skew, name)
    },
    since: (time) => now() - time - jumps.reduce((sum, jump) => sum + passedOver(jump, time), 0),
  }
}
