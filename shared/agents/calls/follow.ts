import { setTimeout as pause } from 'node:timers/promises'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { finishIf, isActive, loadRun, type Run, RunEntity, type RunKey, runNotFound } from '#shared/work/runs/index.ts'

const FIRST_PAUSE = 40
const LONGEST_PAUSE = 400

export interface Follow {
  /** Run that asks. If it ends, the asked run is cancelled. */
  asking?: Run | undefined
  /** Milliseconds for which the run is still followed. */
  left(run: Run): number
  signal?: AbortSignal
}

/**
 * Yields the run now and after each change, until it has ended, the time is up or `signal` is aborted. Reads it with
 * pauses that grow while it doesn't change.
 * @throws `run_already_finished` when the asking run ended
 */
export async function* followAsked(work: Work, asked: RunKey, { asking, left, signal }: Follow): AsyncGenerator<Run> {
  const refs = [asked, ...(asking ? [asking] : [])].map((run) => RunEntity.ref(run))
  let seen: number | null | undefined = null
  for (let wait = FIRST_PAUSE; !signal?.aborted; wait = Math.min(wait * 1.3, LONGEST_PAUSE)) {
    const [run, parent] = await work.table.getAll(refs)
    if (!run) throw runNotFound()
    if (isActive(run.status) && asking && !(parent && isActive(parent.status))) {
      await cancelAsked(work, run)
      throw fail('run_already_finished', { message: 'The asking run ended before the answer arrived.' })
    }
    if (run.stream_seq !== seen) {
      seen = run.stream_seq
      wait = FIRST_PAUSE
      yield run
    }
    const rest = left(run)
    if (!isActive(run.status) || rest <= 0) return
    await pause(Math.min(wait, rest), undefined, { signal }).catch(() => {})
  }
}

/** Cancels the run and returns its final state. An answer that arrived at the last moment counts. */
export const cancelAsked = async (work: Work, key: RunKey): Promise<Run> => {
  await finishIf(withoutAnswer(work), key, () => true, { status: 'cancelled' })
  return loadRun(work, key)
}
