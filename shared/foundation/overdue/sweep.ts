import { MINUTE } from '#shared/kernel/clock.ts'
import { forEachConcurrently } from '#shared/kernel/for-each-concurrently.ts'
import { SWEEP_DIMENSIONS, SWEEP_FOUND, SWEEP_METRICS } from '#shared/kernel/metrics.ts'
import { forRecord } from '#shared/kernel/tracing/scope.ts'
import { type AnyEntity, ConditionFailed, ifUnchanged, type Key } from '#shared/table/entity.ts'
import { either, exists, lt, missing } from '#shared/table/expressions.ts'
import { backoff } from '#shared/table/retry.ts'
import type { DueItem } from '#shared/table/table.ts'
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
/**
 * Most entries of unknown kinds to read past in each shard. A newer version wrote them before it was rolled back, and they
 * stay as they are until it returns.
 */
const SKIPPED_PER_SHARD = 2_000
/** Records handled at once by a sweep, and by the worker of one shard. */
const AT_ONCE = 10
const AT_ONCE_IN_SHARD = 20

/** Time in ms after which the worker of a shard starts no further pass. */
const TIME = 35_000

/** Time for which a worker has a shard to itself, longer than its function runs. */
const SHARD_LEASE = MINUTE

/** Passes in a row that find only what the index still lists although it was handled, before a worker gives up. */
const STALE_PASSES = 5

/** Attempts per read, which take about two seconds together. */
const TRIES = 12

/** Delay after a failure, so that records that can't be handled don't block those that can. */
const AFTER_FAILURE = 5 * MINUTE

/**
 * Finds work that is due, also what a lost message or a dead worker left, and completes it, oldest first. A shard with more than a
 * page is handed to a worker of its own at once, so that many schedules at one time don't wait for each other. One record's
 * failure does not stop the others.
 */
export const sweepOverdue = async (work: WorkerWork, handlers: readonly OverdueHandler[]): Promise<void> => {
  const round = startRound(work, handlers, AT_ONCE)
  const due = await round.list(round.now)
  const handedOver = await handOver(work, fullShards(due))
  await round.handle(due.filter(({ shard }) => !handedOver.has(shard)))
  await work.table.transact([SweepMarkEntity.replace({ name: 'overdue', at: round.now, ...round.result() })])
  round.report()
}

/** Wakes workers of shards. @returns these shards; none if that fails, and then the next sweep tries again */
const handOver = async (work: WorkerWork, shards: readonly number[]): Promise<ReadonlySet<number>> => {
  try {
    await wakeShards(work, shards)
    return new Set(shards)
  } catch (error) {
    work.log.warn('shards of overdue work are not handed over', { shards, error })
    return new Set()
  }
}

/**
 * Completes the overdue work of one shard while there is more than a page of it, alone. Hands the rest to the next worker when
 * its time is up.
 */
export const sweepShard = async (
  work: WorkerWork,
  handlers: readonly OverdueHandler[],
  shard: number,
): Promise<void> => {
  const name = `overdue#${shard}`
  const round = startRound(work, handlers, AT_ONCE_IN_SHARD)
  if (!(await takeShard(work, name, round.now))) return
  let stale = 0
  let isFull = true
  while (isFull && stale < STALE_PASSES && !round.isLate()) {
    if (stale > 0) await backoff(stale)
    const due = await round.list(work.clock.now(), [shard])
    isFull = due.length === PER_SHARD
    stale = (await round.handle(due)) === 0 ? stale + 1 : 0
  }
  await work.table.transact([SweepMarkEntity.replace({ name, at: 0, ...round.result() })])
  if (isFull && stale === 0) await wakeShards(work, [shard])
  round.report()
}

/** Takes a shard unless another worker has it. */
const takeShard = ({ table }: WorkerWork, name: string, now: number): Promise<boolean> =>
  ifUnchanged(
    table.transact([
      SweepMarkEntity.upsert(
        { name },
        { set: { name, at: now, found: 0, failed: 0, oldest_ms: 0 } },
        { where: { at: either(missing, lt(now - SHARD_LEASE)) } },
      ),
    ]),
  )

const wakeShards = async ({ queues }: WorkerWork, shards: readonly number[]): Promise<void> => {
  if (shards.length === 0) return
  await queues.send(
    'overdue',
    shards.map((shard) => ({ body: { shard } })),
  )
}

const fullShards = (due: readonly DueItem[]): number[] =>
  [...Map.groupBy(due, ({ shard }) => shard)].filter(([, own]) => own.length === PER_SHARD).map(([shard]) => shard)

/** Starts to handle overdue records, each once. */
const startRound = (work: WorkerWork, handlers: readonly OverdueHandler[], atOnce: number) => {
  const byEntity = new Map(handlers.map((handler) => [handler.entity.name, handler]))
  const now = work.clock.now()
  const begun = performance.now()
  const seen = new Set<string>()
  let unknown: ReadonlyMap<string, number> = new Map()
  let failed = 0
  let oldest_ms = 0
  const result = () => ({ found: seen.size, failed, oldest_ms })
  return {
    now,
    result,
    isLate: (): boolean => performance.now() - begun >= TIME,
    /** Lists overdue records that have a handler. */
    async list(before: number, only?: readonly number[]): Promise<DueItem[]> {
      const listed = await listDue(work, byEntity, before, only)
      // Skipped records stay, so a later pass finds them again.
      unknown = listed.unknown
      return listed.due
    },
    /** Handles the records that it hasn't seen. Others were handled before, and the index lags behind. @returns their number */
    async handle(due: readonly DueItem[]): Promise<number> {
      const fresh = due.filter(({ key }) => !seen.has(`${key.pk}\n${key.sk}`))
      for (const { key, dueAt } of fresh) {
        seen.add(`${key.pk}\n${key.sk}`)
        oldest_ms = Math.max(oldest_ms, now - dueAt)
      }
      const errors = await forEachConcurrently(fresh, atOnce, (one) =>
        forRecord(`overdue ${one.entity}`, () => handle(work, byEntity.get(one.entity) as OverdueHandler, one)),
      )
      failed += errors.size
      return fresh.length
    },
    report(): void {
      if (unknown.size > 0) {
        const kinds = [...unknown].map(([entity, count]) => ({ entity, count }))
        work.log.warn('skipped overdue records of unknown kinds', { kinds })
      }
      const { found } = result()
      // A metric costs something in each hour in which it is written, and nothing watches for zeros.
      if (found === 0) work.log.info('overdue sweep', { [SWEEP_FOUND]: 0 })
      else
        work.log.metrics(
          'overdue sweep',
          SWEEP_DIMENSIONS,
          { [SWEEP_METRICS.failed]: [failed, 'Count'], [SWEEP_METRICS.oldest]: [oldest_ms, 'Milliseconds'] },
          { [SWEEP_FOUND]: found },
        )
    },
  }
}

/**
 * Reads overdue work that has a handler, and counts by kind what has none. If the read keeps failing, the next sweep picks up
 * the work half a minute later. Throttling has usually passed by then.
 */
const listDue = async (
  { table }: WorkerWork,
  handlers: ReadonlyMap<string, OverdueHandler>,
  now: number,
  only?: readonly number[],
) => {
  for (let tries = 1; ; tries++) {
    const unknown = new Map<string, number>()
    const skips = (entity: string): boolean => {
      if (handlers.has(entity)) return false
      unknown.set(entity, (unknown.get(entity) ?? 0) + 1)
      return true
    }
    try {
      const due = await table.due(now, PER_SHARD, only, { skips, atMost: SKIPPED_PER_SHARD })
      return { due, unknown }
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
const handle = async (work: WorkerWork, handler: OverdueHandler, { entity, key, dueAt }: DueItem): Promise<void> => {
  try {
    await handler.handle(work, key)
  } catch (error) {
    work.log.error('overdue record failed', { entity, ...key, due_at: dueAt, error })
    await postpone(work, handler.entity, key, dueAt)
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
