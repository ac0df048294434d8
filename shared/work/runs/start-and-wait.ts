import { setTimeout as pause } from 'node:timers/promises'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { loadRun, type RunKey } from './change.ts'
import { type Run, RunEntity } from './entity.ts'
import { loadRunWithSteps, viewWithSteps } from './read.ts'
import type { RunView } from './schemas.ts'
import { commitAndDispatch, dispatchAgain, type NewRun, newRun } from './start.ts'
import { isActive, type RunStatus } from './status.ts'

export interface Wait {
  seconds: number
  /** The request has an Idempotency-Key, so an earlier attempt may have created the run. */
  repeatable: boolean
  /** Person for whom the run is read, if any. */
  viewer: string | undefined
  /** Authenticates the caller again. @throws if they lost access */
  recheck(): Promise<void>
}

/** Longest wait in seconds: many clients and proxies give up after 60 seconds without a byte, and a buffered integration after 29. */
const LONGEST = { streaming: 55, buffered: 25 }

/** Runs of agents that answer at once are seen at the first or second read. Each read costs as much CPU as the check of a token. */
const FIRST_PAUSE = 60
const GROWTH = 1.4
const LONGEST_PAUSE = 1_000

/** Statuses in which the agent works. In every other one the run has ended or waits for somebody. */
const WORKING: ReadonlySet<RunStatus> = new Set(['queued', 'running'])

/**
 * Creates a run, starts it, and waits until it ends, stops for a person, or the time is up. The answer isn't stored with
 * the run but after the wait, so that a repeat with the same Idempotency-Key gets the same answer. A repeat of a request
 * that died in the meantime finds its run and waits for it.
 * @throws `too_many_active_runs`, `budget_exceeded`, `payload_too_large`, `chain_budget_exceeded`; the errors of a caller
 *   that lost access while waiting
 */
export const startAndWait = async (
  work: Work,
  installationId: string,
  start: () => Promise<NewRun>,
  wait: Wait,
): Promise<RunView> => {
  const until =
    performance.now() + Math.min(wait.seconds, LONGEST[work.settings.streaming ? 'streaming' : 'buffered']) * 1_000
  // Taken first, so that it is the same in every attempt.
  const id = work.id('run')
  const key = { installation_id: installationId, id }
  const earlier = wait.repeatable ? await work.table.get(RunEntity, key) : undefined
  if (earlier) await dispatchAgain(work, earlier)
  else await create(work, id, await start())
  const ended = await waitWhileWorking(work, key, until, wait.viewer)
  await wait.recheck()
  const [run, steps] = await loadRunWithSteps(work, key, wait.viewer, ended)
  return viewWithSteps(work, run, steps)
}

const create = async (work: Work, id: string, start: NewRun): Promise<void> => {
  const { writes, created } = await newRun({ ...work, id: (kind) => (kind === 'run' ? id : work.id(kind)) }, start)
  await commitAndDispatch(withoutAnswer(work), writes, created)
}

/** Reads the run with growing pauses while its agent works. @returns the run if it has ended, because it stays as it is then */
const waitWhileWorking = async (
  work: Work,
  key: RunKey,
  until: number,
  viewer: string | undefined,
): Promise<Run | undefined> => {
  for (let wait = FIRST_PAUSE; ; wait = Math.min(wait * GROWTH, LONGEST_PAUSE)) {
    const left = until - performance.now()
    if (left <= 0) return undefined
    await pause(Math.min(wait, left))
    const run = await loadRun(work, key, viewer)
    if (!isActive(run.status)) return run
    if (!WORKING.has(run.status)) return undefined
  }
}
