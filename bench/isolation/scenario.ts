import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Receiver } from '#testkit/receiver.ts'
import { type Client, Refused, type Tenant } from '../latency/setup.ts'
import { DONE, type LocalRun } from '../local-run.ts'

/** Milliseconds of each activity of the tenants without trouble, by name. */
export type Measured = Record<string, number[]>

/**
 * Runs the same load with or without the trouble, until nothing of it is in progress.
 *
 * @param seconds measured seconds, after those in which the trouble builds up
 */
export type Round = (isTroubled: boolean, seconds: number) => Promise<Measured>

/** Kind of trouble, and its effect on others. */
export interface Scenario {
  trouble: string
  /** Names of a round's activities that have a limit. */
  limited: readonly string[]
  prepare(run: LocalRun): Promise<Round>
}

/** Makes requests hang until {@link Hanging.release}. */
export interface Hanging {
  /** Makes further requests hang. */
  hang(): void
  /** Answers hanging and further requests. */
  release(): void
}

/** Makes a receiver hang for a while. Requests that still hang at the end are answered. */
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

/** Starts a run unless its tenant has the maximum of active runs. Records its creation time by id. */
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

/** Waits for a condition. @throws Error if it doesn't hold within two minutes */
export const until = async (what: string, isTrue: () => boolean): Promise<void> => {
  for (const end = Date.now() + PATIENCE_MS; !isTrue(); await pause(LOOK_MS)) {
    if (Date.now() > end) throw new Error(`Timed out waiting for ${what}`)
  }
}

/** Waits until no message is waiting, in progress or delayed, so that a round doesn't affect the next. */
export const atRest = async ({ platform }: Pick<LocalRun, 'platform'>): Promise<void> => {
  const queues = ['fanout', 'dispatch', 'delivery', 'statistics'].map((name) => platform.queue(name))
  await until('the queues to be empty', () =>
    queues.every((queue) => {
      const { visible, inFlight, delayed } = queue.counts()
      return visible + inFlight + delayed === 0
    }),
  )
}
