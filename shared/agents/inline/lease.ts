import { storePayload } from '#shared/foundation/payloads/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed, Superseded, type Write } from '#shared/table/entity.ts'
import { oneOf } from '#shared/table/expressions.ts'
import { ACTIVE_STATUSES, failRun, nextCheckAt, type Run, RunEntity, runWrite } from '#shared/work/runs/index.ts'
import { type InlineRun, InlineRunEntity } from './entity.ts'

/**
 * One worker at a time holds the lease on a run, however many are woken. It renews the lease every few seconds. When
 * renewals stop, the lease ends and the sweeper wakes the next worker, which continues from the records. A slow worker
 * may still be active then. The lease only avoids duplicate work; the write conditions prevent duplicate effects.
 */

/** Starts a queued run. @returns undefined when another worker started it first or it was cancelled */
export const startInlineRun = async (work: WorkerWork, run: Run, prompt: unknown): Promise<InlineRun | undefined> => {
  const now = work.clock.now()
  const record: InlineRun = {
    run_id: run.id,
    installation_id: run.installation_id,
    // Each worker stores its own copy, because a concurrent worker may build a different prompt.
    prompt: await storePayload(work, `runs/${run.id}/prompt/${work.requestId}`, prompt, 4 * LIMITS.runPayloadBytes),
    holder: work.requestId,
    held_until: now + LIMITS.inlineHold,
    tries: 1,
    usage: { input_tokens: 0, output_tokens: 0 },
    created_at: now,
  }
  const started = {
    status: 'running' as const,
    started_at: now,
    dispatched_at: now,
    due_at: nextCheckAt(run, record.held_until),
  }
  try {
    await work.commit([runWrite(run, started), InlineRunEntity.create(record)])
    return record
  } catch (error) {
    if (error instanceof ConditionFailed) return undefined
    throw error
  }
}

/**
 * Takes over a run whose lease has ended. Fails the run when several workers were lost on the same turn.
 * @returns undefined when there is nothing to take over
 */
export const takeOverInlineRun = async (work: WorkerWork, run: Run): Promise<InlineRun | undefined> => {
  const record = await work.table.get(InlineRunEntity, { run_id: run.id })
  const now = work.clock.now()
  if (!record || record.held_until > now) return undefined
  if (record.tries >= LIMITS.inlineTries) {
    await failRun(
      work,
      run,
      'agent_timeout',
      'The workers that ran this agent stopped unexpectedly several times in a row.',
    )
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

/** Renews the lease while `during` runs. The signal aborts when the run has ended or another worker holds it. */
export const withLease = async <T>(
  work: WorkerWork,
  run: Run,
  during: (lost: AbortSignal) => Promise<T>,
): Promise<T> => {
  const lost = new AbortController()
  const beat = async (): Promise<void> => {
    const until = work.clock.now() + LIMITS.inlineHold
    try {
      await work.table.transact([leaseHolderUpdate(work, run, { held_until: until }), alive(run, until)])
    } catch (error) {
      if (error instanceof ConditionFailed || error instanceof Superseded) lost.abort()
      // The next renewal may succeed.
      else work.log.warn('could not renew the lease of an inline run', { run_id: run.id, error })
    }
  }
  const timer = setInterval(beat, LIMITS.inlineBeat)
  try {
    return await during(lost.signal)
  } finally {
    clearInterval(timer)
  }
}

/** Releases the run so that the next wake-up can continue it at once. A renewal still in flight has no effect. */
export const releaseLease = async (work: WorkerWork, run: Run): Promise<void> => {
  await work.commit([leaseHolderUpdate(work, run, { holder: '', held_until: 0, tries: 0 })])
}

/** Updates the record on behalf of its holder. @throws the write: {@link Superseded} */
export const leaseHolderUpdate = (work: WorkerWork, run: Run, set: Partial<InlineRun>): Write =>
  InlineRunEntity.update(
    { run_id: run.id },
    { set },
    { where: { holder: work.requestId }, otherwise: () => new Superseded() },
  )

/** Schedules the sweeper for when the lease ends. */
const alive = (run: Run, until: number): Write =>
  RunEntity.update(run, { set: { due_at: nextCheckAt(run, until) } }, { where: { status: oneOf(...ACTIVE_STATUSES) } })
