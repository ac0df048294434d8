import { DAY } from '#shared/kernel/clock.ts'
import type { TestPlatform } from './platform.ts'

/** Death comes in place of the n-th call that leaves the process, or right after it. */
export type Moment = 'before' | 'after'

class Killed extends Error {}

const YEAR = 365 * DAY

/**
 * Lets workers die: at the n-th call to the store, the queues, the bus or a receiver, the worker that made it fails, and
 * with it every further call that it makes.
 */
export const killing = ({ deps, deliver, sweep, outbox, messages, clock }: TestPlatform) => {
  let countdown = Number.POSITIVE_INFINITY
  let moment: Moment = 'after'
  let dead = false
  let died = false
  const mortal = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (dead) throw new Killed()
      countdown -= 1
      const dies = countdown === 0
      if (dies && moment === 'before') return die()
      if (!dies) return call(...args)
      // A call that fails is one after which it can die, too.
      await call(...args).catch(() => undefined)
      return die()
    }
  }
  const die = (): never => {
    dead = true
    died = true
    throw new Killed()
  }

  const { table, queues, bus, http } = deps
  table.transact = mortal(table.transact.bind(table))
  queues.send = mortal(queues.send.bind(queues))
  bus.put = mortal(bus.put.bind(bus))
  http.send = mortal(http.send.bind(http))

  /** Handles what is due, one message after the other, until nothing is. @param lose a message whose worker died is gone */
  const run = async (lose: boolean): Promise<void> => {
    for (let handled = 0; handled < 1_000; handled++) {
      const events = outbox.splice(0)
      // What is not relayed is lost here; the stream itself would bring it again.
      if (events.length > 0) await alive(() => bus.put(events))
      const at = messages.findIndex(({ dueAt }) => dueAt <= clock.now())
      const [message] = at < 0 ? [] : messages.splice(at, 1)
      if (!message) return
      await alive(async () => {
        const done = await deliver(message)
        if (!done && !lose) messages.push(message)
      })
    }
    throw new Error('the workers do not come to rest')
  }
  /** One worker's invocation: a death inside is over with it. */
  const alive = async (invocation: () => Promise<unknown>): Promise<void> => {
    dead = false
    try {
      await invocation()
    } catch (error) {
      if (!(error instanceof Killed)) throw error
    }
    dead = false
  }
  return {
    run,
    /** Nothing waits, and nothing will be due, ever. */
    isOver: async (): Promise<boolean> =>
      messages.length + outbox.length === 0 && (await table.due(clock.now() + YEAR, 1)).length === 0,
    sweep: () => alive(sweep),
    /** From now on the n-th call is deadly. */
    arm: (n: number, at: Moment) => {
      countdown = n
      moment = at
      died = false
    },
    /** From now on nobody dies. @returns whether anybody did */
    disarm: (): boolean => {
      countdown = Number.POSITIVE_INFINITY
      return died
    },
  }
}
