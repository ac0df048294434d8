import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { finishIf, isActive, loadRun, type Run, RunEntity, type RunKey, runNotFound } from '#shared/work/runs/index.ts'
import { type OpenRequest, paceChecks } from '../waiting/index.ts'

const PAUSES = { first: 40, growth: 1.3, longest: 400 }

export interface Follow {
  /** Run that asks. If it ends, the asked run is cancelled. */
  asking?: Run | undefined
  /** Milliseconds for which the run is still followed. */
  left(run: Run): number
  signal?: AbortSignal
  /** The run's request, if this process has sent it. */
  open?: OpenRequest | undefined
}

/**
 * Yields the run now and after each change, until it has ended, the time is up or `signal` is aborted. Reads it with
 * pauses that grow while it doesn't change. A request that was sent in place is dropped once the run has ended.
 * @throws `run_already_finished` when the asking run ended
 */
export async function* followAsked(
  work: Work,
  asked: Run,
  { asking, left, signal, open }: Follow,
): AsyncGenerator<Run> {
  const refs = [asked, ...(asking ? [asking] : [])].map((run) => RunEntity.ref(run))
  let seen: number | null | undefined = null
  const checks = paceChecks(PAUSES, open)
  // The caller has just created the run and sent it, so the first check can wait.
  if (open) await checks.pause(left(asked), signal)
  while (!signal?.aborted) {
    const [run, parent] = await work.table.getAll(refs)
    if (!run) throw runNotFound()
    if (isActive(run.status) && asking && !(parent && isActive(parent.status))) {
      await cancelAsked(work, run)
      open?.drop()
      throw fail('run_already_finished', { message: 'The asking run ended before the answer arrived.' })
    }
    if (run.stream_seq !== seen) {
      seen = run.stream_seq
      checks.restart()
      if (!isActive(run.status)) open?.drop()
      yield run
    }
    const rest = left(run)
    if (!isActive(run.status) || rest <= 0) return
    await checks.pause(rest, signal)
  }
}

/** Cancels the run and returns its final state. An answer that arrived at the last moment counts. */
export const cancelAsked = async (work: Work, key: RunKey): Promise<Run> => {
  await finishIf(withoutAnswer(work), key, () => true, { status: 'cancelled' })
  return loadRun(work, key)
}
