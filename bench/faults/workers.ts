import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '#local/platform.ts'
import { type Dice, oneOf } from '#testkit/dice.ts'
import type { Clocks } from './clock.ts'
import type { Tally } from './tally.ts'

const SWEEP = 'sweeper'

/** Functions whose workers die, with relative frequencies. */
const MORTAL = [
  { name: 'delivery', weight: 4 },
  { name: 'fan-out', weight: 4 },
  { name: 'relay', weight: 3 },
  { name: 'api-calls', weight: 1 },
  { name: 'api', weight: 1 },
  { name: SWEEP, weight: 1 },
]
/** Longest duration of a sweep when little is overdue. */
const SWEEP_MS = 150

/** Jumps of the clocks, forwards and backwards, in ms. */
const JUMPS = [90_000, 120_000, -30_000]

export interface Pace {
  /** Average ms between two deaths. The other values are similar. */
  deaths: number
  storms: number
  skews: number
  jumps: number
  /** Share of sweeps that die midway. */
  sweepsDie: number
}

/**
 * Kills workers' threads at any point, sets clocks wrong, and starts storms, at random moments.
 * @returns a function that stops it
 */
export const killWorkers = (
  platform: Pick<Platform, 'kill' | 'intercept'>,
  { roll, pace, tally, clocks, storm }: { roll: Dice; pace: Pace; tally: Tally; clocks: Clocks; storm: () => void },
): (() => Promise<void>) => {
  const end = new AbortController()
  const kill = (name: string) => {
    tally.count(`deaths of ${name}`)
    return platform.kill(name)
  }

  /** Repeats an action at independent random moments, at most twice the mean apart, so that a short play has each. */
  const often = async (meanMs: number, act: (roll: Dice) => unknown): Promise<void> => {
    const own = roll.fork()
    while (!end.signal.aborted) {
      const ms = Math.min(2, -Math.log(1 - own.share())) * meanMs
      await pause(ms, undefined, { signal: end.signal }).catch(() => undefined)
      if (!end.signal.aborted) await act(own)
    }
  }

  // The sweeper runs for a moment twice a minute, which random deaths hardly ever hit. It never dies twice in a row, or overdue
  // work would be found only a minute and a half later.
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
