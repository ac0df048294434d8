import { ChatEntity } from '../../entities/conversations.ts'
import { OutboxEntity, SweepMarkEntity } from '../../entities/events.ts'
import { FileEntity, LooseObjectEntity } from '../../entities/files.ts'
import { RemovalEntity } from '../../entities/installations.ts'
import { LooseResultEntity } from '../../entities/loose-results.ts'
import { AccountEntity, OutgoingEntity } from '../../entities/messenger.ts'
import { StoppageEntity } from '../../entities/platform.ts'
import { AgentRequestEntity } from '../../entities/reviews.ts'
import { ApprovalEntity, RunEntity } from '../../entities/runs.ts'
import { DeliveryEntity } from '../../entities/webhooks.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { eachOf } from '../../kernel/each-of.ts'
import { SWEEP_DIMENSIONS, SWEEP_METRICS } from '../../kernel/metrics.ts'
import { backoff } from '../../table/backoff.ts'
import { type AnyEntity, ConditionFailed, type Key } from '../../table/entity.ts'
import { exists } from '../../table/expressions.ts'
import { handleOverdueChat } from '../conversations/advance.ts'
import type { WorkerWork } from '../deps.ts'
import { handleOverdueLooseObject } from '../files/loose.ts'
import { handleOverdueFile } from '../files/overdue.ts'
import { handleOverdueRemoval } from '../installations/end-removed.ts'
import { handleOverdueAccount, handleOverdueOutgoing } from '../messenger/overdue.ts'
import { handleOverdueRank } from '../requests/vote.ts'
import { handleOverdueApproval, handleOverdueRun } from '../runs/overdue.ts'
import { handleOverdueStoppage } from '../suspension/stop-runs.ts'
import { handleOverdueResult } from '../tasks/result.ts'
import { handleOverdueDelivery } from '../webhooks/overdue.ts'
import { handleOverdueEvent } from './overdue.ts'

interface Duty {
  entity: AnyEntity
  /** Reads the record first: the index may lag, and another sweep may be at it. */
  handle(work: WorkerWork, key: Key): Promise<void>
}

/** What is done about each kind of record whose time has come. */
const DUTIES = new Map<string, Duty>(
  [
    { entity: OutboxEntity, handle: handleOverdueEvent },
    { entity: DeliveryEntity, handle: handleOverdueDelivery },
    { entity: RunEntity, handle: handleOverdueRun },
    { entity: ApprovalEntity, handle: handleOverdueApproval },
    { entity: FileEntity, handle: handleOverdueFile },
    { entity: LooseObjectEntity, handle: handleOverdueLooseObject },
    { entity: LooseResultEntity, handle: handleOverdueResult },
    { entity: ChatEntity, handle: handleOverdueChat },
    { entity: RemovalEntity, handle: handleOverdueRemoval },
    { entity: StoppageEntity, handle: handleOverdueStoppage },
    { entity: AgentRequestEntity, handle: handleOverdueRank },
    { entity: AccountEntity, handle: handleOverdueAccount },
    { entity: OutgoingEntity, handle: handleOverdueOutgoing },
  ].map((duty) => [duty.entity.name, duty]),
)

/** Read from each shard in one pass. */
const PER_SHARD = 50
const AT_ONCE = 10
/** Passes of one sweep while there is more; and the milliseconds after which no further one begins. */
const PASSES = 20
const TIME = 35_000
/** Of one read, about two seconds together. */
const TRIES = 12

/** After what failed, so that records that cannot be handled do not stand before those that can. */
const AFTER_FAILURE = 5 * MINUTE

/**
 * Finds what is due and was not done, because a message was lost or a worker died, and has it done; oldest first, a
 * bounded number in each sweep. One record's failure does not stop the others.
 */
export const sweepOverdue = async (work: WorkerWork): Promise<void> => {
  const now = work.clock.now()
  const begun = performance.now()
  const seen = new Set<string>()
  let failed = 0
  let oldest_ms = 0
  for (let pass = 0; pass < PASSES && performance.now() - begun < TIME; pass++) {
    const due = await readDue(work, now)
    // What comes again was handled: the index lags behind.
    const fresh = due.filter(({ key }) => !seen.has(`${key.pk}\n${key.sk}`))
    for (const { key, dueAt } of fresh) {
      seen.add(`${key.pk}\n${key.sk}`)
      oldest_ms = Math.max(oldest_ms, now - dueAt)
    }
    failed += (await eachOf(fresh, AT_ONCE, (one) => handle(work, one))).size
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

/** Who reads in vain leaves all that is due to the next sweep, half a minute later; what throttles has mostly passed before. */
const readDue = async ({ table }: WorkerWork, now: number) => {
  for (let tries = 1; ; tries++) {
    try {
      return await table.due(now, PER_SHARD)
    } catch (error) {
      if (tries === TRIES) throw error
      await backoff(tries)
    }
  }
}

/** @throws what went wrong; it is logged, and the record is looked at again later */
const handle = async (
  work: WorkerWork,
  { entity, key, dueAt }: { entity: string; key: Key; dueAt: number },
): Promise<void> => {
  const duty = DUTIES.get(entity)
  try {
    if (!duty) throw new Error(`nothing is known of overdue ${entity} records`)
    await duty.handle(work, key)
  } catch (error) {
    work.log.error('overdue record failed', { entity, ...key, due_at: dueAt, error })
    if (duty) await postpone(work, duty.entity, key, dueAt)
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
