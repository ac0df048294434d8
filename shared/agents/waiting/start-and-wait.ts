import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { RunView } from '#shared/work/runs/index.ts'
import {
  dispatchAgain,
  isActive,
  isWaitingForInput,
  loadRun,
  loadRunWithSteps,
  type NewRun,
  type Run,
  RunEntity,
  type RunKey,
  type RunStatus,
  viewWithSteps,
} from '#shared/work/runs/index.ts'
import { type OpenRequest, type PrepareInPlace, paceChecks, prepareRun } from './pace.ts'

export interface Wait {
  seconds: number
  /** The request has an Idempotency-Key, so an earlier attempt may have created the run. */
  repeatable: boolean
  /** Person for whom the run is read, if any. */
  viewer: string | undefined
  /** Authenticates the caller again. @throws if they lost access */
  recheck(): Promise<void>
  /** The request sends a new run to its agent itself ({@link fitsInPlace}). Otherwise the dispatcher does. */
  inPlace?: PrepareInPlace
}

/** Longest wait in seconds: many clients and proxies give up after 60 seconds without a byte, and a buffered integration after 29. */
const LONGEST = { streaming: 55, buffered: 25 }

const secondsOf = ({ settings }: Pick<Work, 'settings'>, seconds: number): number =>
  Math.min(seconds, LONGEST[settings.streaming ? 'streaming' : 'buffered'])

/** Returns true if a wait covers the time that an agent has for its answer, so that the request can send the run itself. */
export const fitsInPlace = (work: Pick<Work, 'settings'>, seconds: number): boolean =>
  secondsOf(work, seconds) * SECOND >= LIMITS.agentAnswer

/** Runs of agents that answer at once are seen at the first or second read. Each read costs as much CPU as the check of a token. */
const PAUSES = { first: 60, growth: 1.4, longest: 1_000 }

/** Statuses in which the agent works. In every other one the run has ended or waits for somebody. */
const WORKING: ReadonlySet<RunStatus> = new Set(['queued', 'running'])

/**
 * Creates a run, starts it, and waits until it ends, stops for a person, or the time is up. In place, the request
 * sends the run itself (architecture.md#runs-in-place). The answer isn't stored with
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
  const until = performance.now() + secondsOf(work, wait.seconds) * SECOND
  // Taken first, so that it is the same in every attempt.
  const id = work.id('run')
  const key = { installation_id: installationId, id }
  const earlier = wait.repeatable ? await work.table.get(RunEntity, key) : undefined
  let open: OpenRequest | undefined
  if (earlier) await dispatchAgain(work, earlier)
  else {
    const creating: Work = { ...work, id: (kind) => (kind === 'run' ? id : work.id(kind)) }
    const { writes, send } = await prepareRun(wait.inPlace, creating, await start())
    await withoutAnswer(work).commit(writes)
    open = send?.()
  }
  const ended = await waitWhileWorking(work, key, { until, viewer: wait.viewer, open })
  if (ended) open?.drop()
  // The function freezes after its response. The request of a run that waits for a person is kept to its end.
  await open?.over
  await wait.recheck()
  const [run, steps] = await loadRunWithSteps(work, key, wait.viewer, ended)
  return viewWithSteps(work, run, steps)
}

/** Reads the run with growing pauses while its agent works. @returns the run if it has ended, because it stays as it is then */
const waitWhileWorking = async (
  work: Work,
  key: RunKey,
  { until, viewer, open }: { until: number; viewer: string | undefined; open: OpenRequest | undefined },
): Promise<Run | undefined> => {
  const checks = paceChecks(PAUSES, open)
  for (;;) {
    const left = until - performance.now()
    if (left <= 0) return undefined
    await checks.pause(left)
    const run = await loadRun(work, key, viewer)
    if (!isActive(run.status)) return run
    if (!WORKING.has(run.status) || isWaitingForInput(run)) return undefined
  }
}
