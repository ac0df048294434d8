import type { Platform } from '#local/platform.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import type { Dice } from '#test/support/dice.ts'
import type { Tally } from './tally.ts'

/** The functions' clocks: one time that jumps, and around it each function's own error. */
export interface Clocks {
  /** Epoch ms by the platform's time. */
  now(): number
  /** All clocks at once, forwards or (negative) backwards. */
  jump(ms: number): void
  /** One function's clock goes wrong by some seconds. */
  skew(functionName: string): void
  /** Ms that really passed since a time by these clocks: what a jump left out does not count, what it repeated does. */
  since(time: number): number
}

const SKEW = 10 * SECOND

/** What of a jump lies behind a time; of one backwards all, or nothing. */
const passedOver = ({ from, to }: { from: number; to: number }, time: number): number => {
  if (time <= Math.min(from, to)) return to - from
  return time < to ? to - time : 0
}

export const createClocks = (platform: Pick<Platform, 'shiftClock' | 'model'>, roll: Dice, tally: Tally): Clocks => {
  let offset = 0
  /** From what time to what time. */
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
