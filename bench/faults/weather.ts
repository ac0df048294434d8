import type { Platform } from '#local/platform.ts'
import type { Dice } from '#test/support/dice.ts'
import type { Clocks } from './clock.ts'
import { createIndexLag } from './index-lag.ts'
import { disturbMessages, type MessageOdds } from './message-faults.ts'
import { createStoreFaults, type StoreOdds } from './store-faults.ts'
import type { Tally } from './tally.ts'
import { disturbWorkers, type Pace } from './workers.ts'

/** What goes wrong, and how often. */
export interface Weather {
  store: StoreOdds
  messages: MessageOdds
  pace: Pace
  /** How far the indexes are behind, in ms. */
  lagMs: number
}

/** Lets everything go wrong. @returns a function that ends it, however often it is called */
export const startFaults = (
  platform: Platform,
  { store, messages, pace, lagMs }: Weather,
  { roll, tally, clocks }: { roll: Dice; tally: Tally; clocks: Clocks },
): (() => Promise<void>) => {
  const { hook, storm } = createStoreFaults(roll.fork(), store, createIndexLag(lagMs, tally), tally)
  platform.onAwsCall(hook)
  const calm = disturbMessages(platform, roll.fork(), messages, tally)
  const revive = disturbWorkers(platform, { roll: roll.fork(), pace, tally, clocks, storm })
  return async () => {
    await revive()
    calm()
    platform.onAwsCall(undefined)
  }
}
