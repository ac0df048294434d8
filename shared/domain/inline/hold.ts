import { type InlineRun, InlineRunEntity } from '../../entities/inline.ts'
import { ACTIVE_STATUSES, type Run, RunEntity } from '../../entities/runs.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ConditionFailed, type Write } from '../../table/entity.ts'
import { oneOf } from '../../table/expressions.ts'
import type { WorkerWork } from '../deps.ts'
import { storePayload } from '../payloads.ts'
import { RunMoved, runWrite } from '../runs/change.ts'
import { lookAt } from '../runs/due.ts'
import { failRun } from '../runs/finish.ts'

/**
 * Of any number of workers that are woken for a run, one holds it. It gives a sign of life every few seconds; when those
 * stop, the hold ends, the sweep wakes the next worker, and that goes on where the record ends. A worker that was only
 * slow may then be at it, too: the hold saves work, the conditions of the writes are what keeps everything from happening
 * twice.
 */

/** A worker that comes too late: another one has the run. */
export class Superseded extends Error {}

/** Begins a queued run. @returns the record of it, or undefined when another wake-up was faster, or it was cancelled */
export const begin = async (work: WorkerWork, run: Run, prompt: unknown): Promise<InlineRun | undefined> => {
  const now = work.clock.now()
  const record: InlineRun = {
    run_id: run.id,
    installation_id: run.installation_id,
    // Of this worker alone: another that begins at the same time may see another prompt.
    prompt: await storePayload(work, `runs/${run.id}/prompt/${work.requestId}`, prompt, 4 * LIMITS.runPayloadBytes),
    holder: work.requestId,
    held_until: now + LIMITS.inlineHold,
    tries: 1,
    input_tokens: 0,
    output_tokens: 0,
    created_at: now,
  }
  const started = {
    status: 'running' as const,
    started_at: now,
    dispatched_at: now,
    due_at: lookAt(run, record.held_until),
  }
  try {
    await work.commit([runWrite(run, started), InlineRunEntity.create(record)])
    return record
  } catch (error) {
    if (error instanceof RunMoved || error instanceof ConditionFailed) return undefined
    throw error
  }
}

/**
 * Takes a run that nobody holds. After several workers were lost over the same turn it is given up.
 * @returns the record, or undefined when there is nothing to take
 */
export const takeOver = async (work: WorkerWork, run: Run): Promise<InlineRun | undefined> => {
  const record = await work.table.get(InlineRunEntity, { run_id: run.id })
  const now = work.clock.now()
  if (!record || record.held_until > now) return undefined
  if (record.tries >= LIMITS.inlineTries) {
    await failRun(work, run, 'agent_timeout', 'The platform lost the worker that ran this agent, again and again.')
    return undefined
  }
  const taken = { holder: work.requestId, held_until: now + LIMITS.inlineHold, tries: record.tries + 1 }
  try {
    await work.commit([
      InlineRunEntity.update(
        record,
        { set: taken },
        { where: { holder: record.holder, held_until: record.held_until } },
      ),
      alive(run, now + LIMITS.inlineHold),
    ])
    return { ...record, ...taken }
  } catch (error) {
    if (error instanceof ConditionFailed) return undefined
    throw error
  }
}

/** Gives signs of life while a worker is at it. The signal says that the run has ended, or has another worker. */
export const whileHeld = async <T>(
  work: WorkerWork,
  run: Run,
  during: (lost: AbortSignal) => Promise<T>,
): Promise<T> => {
  const lost = new AbortController()
  const beat = async (): Promise<void> => {
    const until = work.clock.now() + LIMITS.inlineHold
    try {
      await work.table.transact([held(work, run, { held_until: until }), alive(run, until)])
    } catch (error) {
      if (error instanceof ConditionFailed || error instanceof Superseded) lost.abort()
      // The next sign may be heard again.
      else work.log.warn('no sign of life', { run_id: run.id, error })
    }
  }
  const timer = setInterval(beat, LIMITS.inlineBeat)
  try {
    return await during(lost.signal)
  } finally {
    clearInterval(timer)
  }
}

/** Lets the run go, so that the next wake-up goes on with it at once; a sign of life on its way does not count any more. */
export const release = async (work: WorkerWork, run: Run): Promise<void> => {
  await work.commit([held(work, run, { holder: '', held_until: 0, tries: 0 })])
}

/** A change of the record by its holder. @throws the write: {@link Superseded} */
export const held = (work: WorkerWork, run: Run, set: Partial<InlineRun>): Write =>
  InlineRunEntity.update(
    { run_id: run.id },
    { set },
    { where: { holder: work.requestId }, otherwise: () => new Superseded() },
  )

/** The sweep looks when the signs stop. */
const alive = (run: Run, until: number): Write =>
  RunEntity.update(run, { set: { due_at: lookAt(run, until) } }, { where: { status: oneOf(...ACTIVE_STATUSES) } })
