import { MINUTE } from '#shared/kernel/clock.ts'
import { forEachConcurrently } from '#shared/kernel/for-each-concurrently.ts'
import { SWEEP_DIMENSIONS, SWEEP_METRICS } from '#shared/kernel/metrics.ts'
import { forRecord } from '#shared/kernel/tracing/scope.ts'
import { type AnyEntity, ConditionFailed, type Key } from '#shared/table/entity.ts'
import { exists } from '#shared/table/expressions.ts'
import { backoff } from '#shared/table/retry.ts'
import type { WorkerWork } from '../work/work.ts'
import { SweepMarkEntity } from './entity.ts'

/** Completes overdue work on records of one entity. */
export interface OverdueHandler {
  entity: AnyEntity
  /** Reads the record first: the index may lag, and another sweep may already have handled it. */
  handle(work: WorkerWork, key: Key): Promise<void>
}

/** Read from each shard in one pass. */
const PER_SHARD = 50
const AT_ONCE = 10

/** Maximum passes of one sweep, and the time in ms after which no further pass starts. */
const PASSES = 20
const TIME = 35_000

/** Attempts per read, which take about two seconds together. */
const TRIES = 12

/** Delay after a failure, so that records that can't be handled don't block those that can. */
const AFTER_FAILURE = 5 * MINUTE

/**
 * Finds overdue work, left by a lost message or a dead worker, and completes it. Each sweep handles a bounded number of
 * records, oldest first. One record's failure does not stop the others.
 */
export const sweepOverdue = async (work: WorkerWork, handlers: readonly OverdueHandler[]): Promise<void> => {
  const byEntity = new Map(handlers.map((handler) => [handler.entity.name, handler]))
  const now = work.clock.now()
  const begun = performance.now()
  const seen = new Set<string>()
  let failed = 0
  let oldest_ms = 0
  for (let pass = 0; pass < PASSES && performance.now() - begun < TIME; pass++) {
    const due = await listDue(work, now)
    // Records that appear again were already handled: the index lags behind.
    const fresh = due.filter(({ key }) => !seen.has(`${key.pk}\n${key.sk}`))
    for (const { key, dueAt } of fresh) {
      seen.add(`${key.pk}\n${key.sk}`)
      oldest_ms = Math.max(oldest_ms, now - dueAt)
    }
    failed += (
      await forEachConcurrently(fresh, AT_ONCE, (one) => forRecord(() => handle(work, byEntity.get(one.entity), one)))
    ).size
    if (fresh.length === 0 || due.length < PER_SHARD) break
  }
  const found = seen.size
  await work.table.transact([SweepMarkEntity.replace({ name: 'overdue', at: now, found, failed, oldest_ms })])
  work.log.metrics('overdue sweep', SWEEP_DIMENSIONS, {
    [SWEEP_METRICS.found]: [found, 'Count'],
    [SWEEP_METRICS.failed]: [failed, 'Count'],
    [SWEEP_METRICS.oldest]: [oldest_ms, 'Milliseconds'],
  })
}

/**
 * Reads overdue work. If the read keeps failing, the next sweep picks up the work half a minute later. Throttling has
 * usually passed by then.
 */
const listDue = async ({ table }: WorkerWork, now: number) => {
  for (let tries = 1; ; tries++) {
    try {
      return await table.due(now, PER_SHARD)
    } catch (error) {
      if (tries === TRIES) throw error
      await backoff(tries)
    }
  }
}

/**
 * Handles one overdue record.
 * @throws the handler's error; it is logged, and the record is retried later
 */
const handle = async (
  work: WorkerWork,
  handler: OverdueHandler | undefined,
  { entity, key, dueAt }: { entity: string; key: Key; dueAt: number },
): Promise<void> => {
  try {
    if (!handler) throw new Error(`no handler for overdue ${entity} records`)
    await handler.handle(work, key)
  } catch (error) {
    work.log.error('overdue record failed', { entity, ...key, due_at: dueAt, error })
    if (handler) await postpone(work, handler.entity, key, dueAt)
    throw error
  }
}

const postpone = async (work: WorkerWork, entity: AnyEntity, key: Key, dueAt: number): Promise<void> => {
  try {
    const due_at = work.clock.now() + AFTER_FAILURE
    await work.table.transact([
      { kind: 'update', entity, key, changes: { set: { due_at } }, where: { pk: exists, due_at: dueAt } },
    ])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) work.log.error('overdue record could not be postponed', { ...key, error })
  }
}
