import { setTimeout as pause } from 'node:timers/promises'
import { AwsError, ConnectionLost } from '#local/aws/error.ts'
import type { AwsCall } from '#local/platform.ts'
import type { Dice } from '#testkit/dice.ts'
import type { IndexLag } from './index-lag.ts'
import type { Tally } from './tally.ts'

/** Probabilities of faults, among all calls that they can affect. */
export interface StoreOdds {
  throttled: number
  conflict: number
  /** The call succeeds, and the connection breaks before the answer. */
  answerLost: number
  slow: number
  /** The call outlasts the function's time limit. */
  stalled: number
  /** Nearly everything is throttled for a while: the duration in ms, and the share of calls that start one. */
  storm: { ms: number; share: number }
}

const SLOW_MS = 2_000
/** Duration of a stalled call, longer than any worker's time limit. */
const STALLED_MS = 65_000

const throttle = () => new AwsError('com.amazonaws.dynamodb.v20120810#ThrottlingException', 'Rate exceeded')
const conflict = (items: number) =>
  new AwsError('com.amazonaws.dynamodb.v20120810#TransactionCanceledException', 'Transaction cancelled', 400, {
    CancellationReasons: Array.from({ length: items }, (_, i) => ({
      Code: i === 0 ? 'TransactionConflict' : 'None',
    })),
  })

const plainConflict = () =>
  new AwsError('com.amazonaws.dynamodb.v20120810#TransactionConflictException', 'Transaction is ongoing for the item')

/** Plain writes of these functions may meet a transaction on the same item. */
const PLAIN = /^(Put|Update|Delete)Item$/
const MEETS_TRANSACTIONS = new Set(['fan-out', 'delivery'])

/** Causes faults in functions' calls to AWS. Calls from elsewhere aren't affected. */
export const createStoreFaults = (roll: Dice, odds: StoreOdds, lag: IndexLag, tally: Tally) => {
  let stormUntil = 0

  const before = async ({ service, operation, functionName = '', input }: AwsCall): Promise<void> => {
    const name = service === 'dynamodb' ? 'the store' : service === 'sqs' ? 'a queue' : 'the bus'
    if (performance.now() < stormUntil && roll.chance(odds.storm.share)) {
      tally.count(`${name} throttles, in a storm`)
      throw throttle()
    }
    if (roll.chance(odds.throttled)) {
      tally.count(`${name} throttles`)
      throw throttle()
    }
    if (operation === 'TransactWriteItems' && roll.chance(odds.conflict)) {
      tally.count('the store: TransactionConflict')
      throw conflict((input.TransactItems as unknown[]).length)
    }
    if (PLAIN.test(operation) && MEETS_TRANSACTIONS.has(functionName) && roll.chance(odds.conflict)) {
      tally.count('the store: TransactionConflict of a plain write')
      throw plainConflict()
    }
    if (roll.chance(odds.slow)) {
      tally.count(`${name} is slow (up to ${SLOW_MS / 1_000} s)`)
      await pause(roll.below(SLOW_MS))
    }
    if (service === 'dynamodb' && roll.chance(odds.stalled)) {
      tally.count('the store stalls until the function’s time is over')
      await pause(STALLED_MS, undefined, { ref: false })
      throw new ConnectionLost()
    }
  }

  const after = ({ service, operation, output = {} }: AwsCall): void => {
    if (!roll.chance(odds.answerLost)) return
    // A refusal changes nothing, so losing it doesn't count.
    if ('__type' in output) return
    tally.count(`done, and its answer lost: ${service === 'dynamodb' ? 'the store' : service} ${operation}`)
    throw new ConnectionLost()
  }

  return {
    /** The hook of the local run. */
    hook: async (call: AwsCall) => {
      if (call.phase === 'after' && call.service === 'dynamodb') lag.note(call)
      if (call.functionName === undefined || !['dynamodb', 'sqs', 'events'].includes(call.service)) return undefined
      if (call.phase === 'before') return before(call)
      after(call)
      return call.service === 'dynamodb' ? lag.shown(call) : undefined
    },
    storm: () => {
      tally.count('storms of throttles')
      stormUntil = performance.now() + odds.storm.ms
    },
  }
}
