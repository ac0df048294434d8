import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '#local/platform.ts'
import { type Dice, oneOf } from '#test/support/dice.ts'
import type { Clocks } from './clock.ts'
import type { Tally } from './tally.ts'

const SWEEP = 'overdue-sweep'

/** Who dies, and how often relative to the others. */
const MORTAL = [
  { name: 'webhook-delivery', weight: 4 },
  { name: 'event-fanout', weight: 4 },
  { name: 'stream-relay', weight: 3 },
  { name: 'tools', weight: 1 },
  { name: 'api', weight: 1 },
  { name: SWEEP, weight: 1 },
]
/** A sweep is over in less than this where little is overdue. */
const SWEEP_MS = 150

/** Forwards and backwards, in ms. */
const JUMPS = [90_000, 120_000, -30_000]

export interface Pace {
  /** Ms between two deaths, on average; and so on. */
  deaths: number
  storms: number
  skews: number
  jumps: number
  /** The share of sweeps that die while they are at it. */
  sweepsDie: number
}

/**
 * Ends workers' threads in the middle of whatever they do, lets clocks go wrong, and brings storms, at random moments.
 * @returns a function that ends all of it
 */
export const disturbWorkers = (
  platform: Pick<Platform, 'kill' | 'intercept'>,
  { roll, pace, tally, clocks, storm }: { roll: Dice; pace: Pace; tally: Tally; clocks: Clocks; storm: () => void },
): (() => Promise<void>) => {
  const end = new AbortController()
  const kill = (name: string) => {
    tally.count(`deaths of ${name}`)
    return platform.kill(name)
  }

  /** Now and then, at moments that do not depend on each other. */
  const often = async (meanMs: number, act: (roll: Dice) => unknown): Promise<void> => {
    const own = roll.fork()
    while (!end.signal.aborted) {
      const ms = -Math.log(1 - own.share()) * meanMs
      await pause(ms, undefined, { signal: end.signal }).catch(() => undefined)
      if (!end.signal.aborted) await act(own)
    }
  }

  // It runs twice a minute for a moment, which a death at random hardly ever meets. Never twice in a row: then what is
  // overdue is found by the one after, a minute and a half later.
  let died = false
  const sweeps = roll.fork()
  const spare = platform.intercept(SWEEP, async (event, next) => {
    died = !died && sweeps.chance(pace.sweepsDie)
    if (died) setTimeout(() => void kill(SWEEP), sweeps.below(SWEEP_MS))
    return next(event)
  })

  const running = [
    often(pace.deaths, (own) => kill(oneOf(own, MORTAL).name)),
    often(pace.storms, storm),
    often(pace.skews, (own) => clocks.skew(oneOf(own, MORTAL).name)),
    often(pace.jumps, (own) => clocks.jump(JUMPS[own.below(JUMPS.length)] ?? 0)),
  ]
  return async () => {
    spare()
    end.abort()
    await Promise.all(running)
  }
}
