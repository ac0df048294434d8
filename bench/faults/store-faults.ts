import { setTimeout as pause } from 'node:timers/promises'
import { AwsError, ConnectionLost } from '#local/aws/error.ts'
import type { AwsCall } from '#local/platform.ts'
import type { Dice } from '#test/support/dice.ts'
import type { IndexLag } from './index-lag.ts'
import type { Tally } from './tally.ts'

/** How often what goes wrong, of all calls that it can happen to. */
export interface StoreOdds {
  throttled: number
  conflict: number
  /** Done, and the connection breaks before the answer. */
  answerLost: number
  slow: number
  /** So slow that the function's time is over before. */
  stalled: number
  /** For a while nearly everything is throttled: this long, in ms, and so often of all calls. */
  storm: { ms: number; share: number }
}

const SLOW_MS = 2_000
/** Longer than any worker's time. */
const STALLED_MS = 65_000

const throttle = () => new AwsError('com.amazonaws.dynamodb.v20120810#ThrottlingException', 'Rate exceeded')
const conflict = (items: number) =>
  new AwsError('com.amazonaws.dynamodb.v20120810#TransactionCanceledException', 'Transaction cancelled', 400, {
    CancellationReasons: Array.from({ length: items }, (_, i) => ({
      Code: i === 0 ? 'TransactionConflict' : 'None',
    })),
  })

/** What functions ask of AWS goes wrong by these odds; who asks from elsewhere gets the truth. */
export const createStoreFaults = (roll: Dice, odds: StoreOdds, lag: IndexLag, tally: Tally) => {
  let stormUntil = 0

  const before = async ({ service, operation, input }: AwsCall): Promise<void> => {
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
    // A refusal changes nothing, so that losing it is nothing to tell of.
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
