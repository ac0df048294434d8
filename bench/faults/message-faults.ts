import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '#local/platform.ts'
import type { Dice } from '#testkit/dice.ts'
import type { Tally } from './tally.ts'

/** Probabilities of faults of a batch on its way to a function. */
export interface MessageOdds {
  /** Delivered twice at the same time. */
  twice: number
  /** Delivered again although it was done. */
  again: number
  /** Held back, so that later messages arrive first. */
  late: number
  /** Lost. */
  lost: number
}

interface Batch {
  Records?: unknown[]
}

const AGAIN_MS = 15_000
const LATE_MS = 3_000

/** Functions that are woken by a queue. */
const QUEUES = ['fan-out', 'delivery', 'statistics']
const STREAM = 'relay'

/**
 * Makes messages arrive twice, again, late, out of order, or never. As on AWS, stream records stay in order and are never lost, but
 * a batch may arrive again.
 * @returns a function that stops the faults
 */
export const disturbMessages = (
  platform: Pick<Platform, 'intercept' | 'model'>,
  roll: Dice,
  odds: MessageOdds,
  tally: Tally,
): (() => void) => {
  const stops = [...QUEUES, STREAM].map((name) => {
    const isQueue = name !== STREAM
    return platform.intercept(name, async (event, next) => {
      const records = (event as Batch).Records ?? []
      const given = isQueue && records.length > 1 ? { ...(event as Batch), Records: records.toReversed() } : event
      if (given !== event) tally.count('batches of a queue in another order')
      const n = records.length
      if (isQueue && roll.chance(odds.lost)) {
        tally.count('messages lost', n)
        return { kind: 'value', value: { batchItemFailures: [] }, bytes: 2 }
      }
      if (isQueue && roll.chance(odds.late)) {
        tally.count('messages held back', n)
        await pause(roll.below(LATE_MS))
      }
      if (roll.chance(odds.again)) {
        tally.count(isQueue ? 'messages again, although done' : 'stream records again, although done', n)
        const later = setTimeout(() => void next(given).catch(() => undefined), roll.below(AGAIN_MS))
        later.unref()
      }
      if (!roll.chance(odds.twice)) return next(given)
      tally.count(isQueue ? 'messages twice at once' : 'stream records twice', n)
      if (!isQueue) await next(given)
      const [result] = await Promise.all([next(given), isQueue ? next(given) : undefined])
      return result
    })
  })
  return () => {
    for (const stop of stops) stop()
  }
}
