import { DAY } from '#shared/kernel/clock.ts'
import type { TestPlatform } from './platform.ts'

/** Moment of death: instead of the n-th call that leaves the process, or right after it. */
export type Moment = 'before' | 'after'

class Killed extends Error {}

const YEAR = 365 * DAY

/**
 * Kills workers: at the n-th call to the store, the queues, the bus or a receiver, the calling worker fails, and so does every
 * further call that it makes.
 */
export const killing = ({ deps, deliver, sweep, outbox, messages, clock }: TestPlatform) => {
  let countdown = Number.POSITIVE_INFINITY
  let calls = 0
  let moment: Moment = 'after'
  let dead = false
  let died = false
  const mortal = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (dead) throw new Killed()
      countdown -= 1
      calls++
      const dies = countdown === 0
      if (dies && moment === 'before') return die()
      if (!dies) return call(...args)
      // A worker can also die after a failed call.
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

  /** Handles due messages one after the other until none is left. @param lose drops a message whose worker died */
  const run = async (lose: boolean): Promise<void> => {
    for (let handled = 0; handled < 1_000; handled++) {
      const events = outbox.splice(0)
      // Events that aren't relayed are lost here. The real stream would deliver them again.
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
  /** Runs one invocation of a worker. Its death ends with the invocation. */
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
    /** Returns true if nothing waits and nothing will become due. */
    isOver: async (): Promise<boolean> =>
      messages.length + outbox.length === 0 && (await table.due(clock.now() + YEAR, 1)).length === 0,
    sweep: () => alive(sweep),
    /** Kills the worker at the n-th call from now. */
    arm: (n: number, at: Moment) => {
      countdown = n
      calls = 0
      moment = at
      died = false
    },
    /** Returns the number of calls since the last `arm`. */
    calls: () => calls,
    /** Stops killing. @returns true if a worker died */
    disarm: (): boolean => {
      countdown = Number.POSITIVE_INFINITY
      return died
    },
  }
}
