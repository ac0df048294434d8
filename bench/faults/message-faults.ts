import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '#local/platform.ts'
import type { Dice } from '#test/support/dice.ts'
import type { Tally } from './tally.ts'

/** How often what goes wrong with a batch on its way to a function. */
export interface MessageOdds {
  /** Handed over twice at the same time. */
  twice: number
  /** Handed over again although it was done. */
  again: number
  /** Held back, so that what was sent later is there before. */
  late: number
  /** Gone. */
  lost: number
}

interface Batch {
  Records?: unknown[]
}

const AGAIN_MS = 15_000
const LATE_MS = 3_000

/** The functions that a queue's messages or the stream's records wake. */
const QUEUES = ['event-fanout', 'webhook-delivery', 'statistics']
const STREAM = 'stream-relay'

/**
 * Messages come twice, again, late, in another order, or never. The stream's records come in their order and never get
 * lost, as on AWS; but a batch may come again.
 * @returns a function that ends all of it
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
