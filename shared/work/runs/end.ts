import { type OutboxEvent, OVERDUE_GRACE } from '#shared/foundation/outbox/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { exists, missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { changedRun, type RunChange, type RunKey, runWrite } from './change.ts'
import { emitHeld, emitUnannounced, endEventOf, isAnnounced, isRunEnd, recordRunEvent } from './emit.ts'
import { isNamedByCounter, type Run, RunEntity } from './entity.ts'
import { freePlace, isWaitingForInput } from './places.ts'

/**
 * Ends a run with which nothing else changes, in plain writes. They cost half of a transaction:
 *
 *     end the run ─┬─► free its place ──────────────┬─► (the event's carrier) bring it to everybody ─► settle the run
 *                  └─► create the event's record ───┘
 *
 * The first write decides: of several answers, one ends the run, and the event with its id derives from the run that it ended.
 * The run stays due for what follows. If the worker dies in between, the sweeper does the rest ({@link completeEnd}), and whoever
 * needs the place frees it before that.
 * @param fields changed fields of the run
 * @returns false if the run needs a transaction
 */
export const endPlainly = async (work: Work, run: Run, fields: RunChange, answer: unknown): Promise<boolean> => {
  const { carrier } = work
  if (!carrier || !isNamedByCounter(run) || isWaitingForInput(run)) return false
  const event = endEventOf(changedRun(run, fields))
  if (!carrier.takes(event)) return false
  const now = work.clock.now()
  // The run is due soon anyway, mostly. Moving its due time would write the index of overdue work twice.
  const isDueSoon = run.due_at !== undefined && run.due_at <= now + OVERDUE_GRACE
  const changes = {
    ...fields,
    ...(!isDueSoon && { due_at: now + OVERDUE_GRACE }),
    ...((await isAnnounced(work, run)) && { is_unannounced: undefined }),
  }
  const ended = changedRun(run, changes)
  const held = { ...event, carried: true as const, is_held: true as const, due_at: undefined }
  const write = runWrite(run, changes)
  await work.commit([{ ...write, where: { ...write.where, due_at: run.due_at ?? missing } }], answer)
  try {
    await announceEnded(work, ended)
    const [isNew] = await Promise.all([recordRunEvent(work, held), freePlace(work, ended)])
    // The worker that brings the event settles the run, so the place has to be free by then.
    if (isNew) carrier.take(held)
  } catch (error) {
    work.log.warn('what follows the end of a run is left to the sweeper', { run_id: run.id, error })
  }
  return true
}

/** Has the event of a run's start due itself, unless everybody has it. It comes before that of the end. */
const announceEnded = async (work: Work, run: Run): Promise<void> => {
  if (run.is_unannounced) await retryOnConflict(async () => work.commit(await emitUnannounced(work, run)))
}

/** Settles the run that ended with an event, which is due for it, because everybody has the event now. */
export const settleRunOf = async ({ table }: Pick<Deps, 'table'>, event: OutboxEvent): Promise<void> => {
  if (!event.is_held || !isRunEnd(event)) return
  const { installation_id, run_id } = JSON.parse(event.data) as { installation_id: string; run_id: string }
  await settle({ table }, { installation_id, id: run_id })
}

const settle = ({ table }: Pick<Deps, 'table'>, key: RunKey): Promise<boolean> => {
  const set = { due_at: undefined, is_unannounced: undefined }
  return ifUnchanged(table.transact([RunEntity.update(key, { set }, { where: { finished_at: exists } })]))
}

/**
 * Does what follows the end of a run and wasn't done. The event of its start has to be due itself, or everybody has it.
 * @returns the event of its end, unless everybody has it. It is due itself from now on, and the caller brings it to the bus
 */
export const completeEnd = async (work: Work, run: Run): Promise<OutboxEvent | undefined> => {
  const { table, clock } = work
  await freePlace(work, run)
  const event = endEventOf(run)
  const isLeft = await retryOnConflict(async () => {
    const writes = await emitHeld(work, { ...event, carried: true, due_at: clock.now() + OVERDUE_GRACE })
    if (writes.length > 0) await table.transact(writes)
    return writes.length > 0
  })
  await settle(work, run)
  return isLeft ? event : undefined
}

/** Has the end of a run completed later. */
export const postponeEnd = async ({ table }: Pick<Deps, 'table'>, run: Run, due_at: number): Promise<void> => {
  await ifUnchanged(
    table.transact([RunEntity.update(run, { set: { due_at } }, { where: { due_at: run.due_at ?? missing } })]),
  )
}
