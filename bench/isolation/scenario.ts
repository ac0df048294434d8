import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Receiver } from '#test/support/receiver.ts'
import { type Client, Refused, type Tenant } from '../latency/setup.ts'
import { DONE, type LocalRun } from '../local-run.ts'

/** Milliseconds of what the tenants without trouble did, by its name; one for each time. */
export type Measured = Record<string, number[]>

/**
 * The same load, with the trouble or without. Ends when nothing of it is on its way any more.
 *
 * @param seconds that count, after those in which the trouble builds up
 */
export type Round = (isTroubled: boolean, seconds: number) => Promise<Measured>

/** One kind of trouble, and how the others fare. */
export interface Scenario {
  trouble: string
  /** What has its limit, of the names that a round gives. */
  limited: readonly string[]
  prepare(run: LocalRun): Promise<Round>
}

/** A request that hangs until {@link Hanging.release}. */
export interface Hanging {
  /** From now on requests hang. */
  hang(): void
  /** What hangs is answered, and so is all that comes. */
  release(): void
}

/** Makes a receiver hang for a while; what still hangs at the end of that is answered like all else. */
export const hanging = (receiver: Receiver): Hanging => {
  const answer: Answer = { kind: 'answer', status: 200, body: DONE }
  let free = () => undefined as unknown
  receiver.answer(answer)
  return {
    hang: () => {
      const released = new Promise<void>((resolve) => {
        free = resolve
      })
      receiver.answer(async () => {
        await released
        return answer
      })
    },
    release: () => {
      receiver.answer(answer)
      free()
    },
  }
}

/** Starts a run, unless its tenant has as many active ones as it may. Keeps when it was created, by its id. */
export const startRun = async (call: Client, { headers }: Tenant, created: Map<string, number>): Promise<void> => {
  try {
    const run = await call('POST', '/api/v1/runs', headers, { input: { name: 'Ada' }, trigger: 'bench' })
    created.set(run.id, Date.parse(run.created_at))
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== TOO_MANY_ACTIVE_RUNS) throw error
  }
}

const TOO_MANY_ACTIVE_RUNS = 409
const LOOK_MS = 50
const PATIENCE_MS = 120_000

/** @throws Error when it does not come true within two minutes */
export const until = async (what: string, isTrue: () => boolean): Promise<void> => {
  for (const end = Date.now() + PATIENCE_MS; !isTrue(); await pause(LOOK_MS)) {
    if (Date.now() > end) throw new Error(`In vain waited for ${what}`)
  }
}

/** Waits until no message waits, is on its way, or is to come later: what one round left must not burden the next. */
export const atRest = async ({ platform }: LocalRun): Promise<void> => {
  const queues = ['fanout', 'dispatch', 'delivery', 'statistics'].map((name) => platform.queue(name))
  await until('the queues to be empty', () =>
    queues.every((queue) => {
      const { visible, inFlight, delayed } = queue.counts()
      return visible + inFlight + delayed === 0
    }),
  )
}
