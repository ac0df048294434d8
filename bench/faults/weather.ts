import type { Platform } from '#local/platform.ts'
import type { Dice } from '#testkit/dice.ts'
import type { Clocks } from './clock.ts'
import { createIndexLag } from './index-lag.ts'
import { disturbMessages, type MessageOdds } from './message-faults.ts'
import { createStoreFaults, type StoreOdds } from './store-faults.ts'
import type { Tally } from './tally.ts'
import { killWorkers, type Pace } from './workers.ts'

/** Faults and their probabilities. */
export interface Weather {
  store: StoreOdds
  messages: MessageOdds
  pace: Pace
  /** Lag of the indexes, in ms. */
  lagMs: number
}

/** Starts all faults. @returns a function that stops them, and that may be called repeatedly */
export const startFaults = (
  platform: Platform,
  { store, messages, pace, lagMs }: Weather,
  { roll, tally, clocks }: { roll: Dice; tally: Tally; clocks: Clocks },
): (() => Promise<void>) => {
  const { hook, storm } = createStoreFaults(roll.fork(), store, createIndexLag(lagMs, tally), tally)
  platform.onAwsCall(hook)
  const calm = disturbMessages(platform, roll.fork(), messages, tally)
  const revive = killWorkers(platform, { roll: roll.fork(), pace, tally, clocks, storm })
  return async () => {
    await revive()
    calm()
    platform.onAwsCall(undefined)
  }
}
