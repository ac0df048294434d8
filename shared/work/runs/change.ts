import { type Deps, isVisibleTo } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing, oneOf } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Run, RunEntity, runsByStatus } from './entity.ts'
import { ACTIVE_STATUSES, isActive, type RunStatus } from './status.ts'
import { stateFields } from './stream-numbers.ts'

/** Key of a run. */
export interface RunKey {
  installation_id: string
  id: string
}

/**
 * Loads a run.
 * @param viewer person for whom the run is loaded, if any
 * @throws `not_found` also for a run of another installation, because the key contains the installation's id, and for a
 *   run in another person's chat
 */
export const loadRun = async ({ table }: Pick<Deps, 'table'>, key: RunKey, viewer?: string): Promise<Run> => {
  const run = await table.get(RunEntity, key)
  if (!run || !isVisibleTo(viewer, run)) throw runNotFound()
  return run
}

export const runNotFound = (): PlatformError => fail('not_found', { message: 'Run not found.' })

/** Refuses an ended run. @throws `run_already_finished` */
export const requireActive = (run: Run): Run => {
  if (!isActive(run.status))
    throw fail('run_already_finished', { message: `The run has already ended with the status ${run.status}.` })
  return run
}

/**
 * Refuses an agent's change to a run that it hasn't received.
 * @throws `run_already_finished`, or `conflict` while it is queued
 */
export const requireStarted = (run: Run): Run => {
  if (requireActive(run).status === 'queued') {
    throw fail('conflict', {
      message: 'The run is still queued.',
      fix: 'Wait for run.execute before reporting on the run.',
    })
  }
  return run
}

/**
 * Write of a run's change, conditional on the run as it was read. `fields` are the changed fields. A new status also takes
 * the next number in the run's stream, and the last one moves the run in its installation's lists.
 */
export const runWrite = (run: Run, fields: RunChange): Write =>
  RunEntity.update(
    run,
    {
      set: setFields(run, fields),
      ...(fields.status && isActive(run.status) && !isActive(fields.status) && { list: place(run, fields.status) }),
    },
    {
      where: {
        status: run.status,
        last_seq: run.last_seq,
        step_count: run.step_count,
        stream_seq: run.stream_seq,
        pending_step: run.pending_step ?? missing,
        dispatched_at: run.dispatched_at ?? missing,
        accepted_at: run.accepted_at ?? missing,
        budgets_raised: run.budgets_raised ?? missing,
        // Its events wake the worker that notifies A2A clients.
        pushes: run.pushes ?? missing,
      },
    },
  )

/** Changed fields of a run. */
export type RunChange = { [K in keyof Run]?: Run[K] | undefined }

/** Returns the run after its write with the same fields. */
export const changedRun = (run: Run, fields: RunChange): Run => ({ ...run, ...setFields(run, fields) }) as Run

const setFields = (run: Run, fields: RunChange): RunChange => ({
  ...fields,
  ...(fields.status && stateFields(run, fields.status, fields.stream_seq)),
})

/**
 * Write that refreshes a run's sign of life, for changes outside its own record. It also refuses them after the run's end.
 * @throws the write: `run_already_finished`
 */
export const signOfLife = (
  { clock }: Pick<Deps, 'clock'>,
  run: Run,
  more: Pick<Partial<Run>, 'first_hop_at'> = {},
): Write =>
  RunEntity.update(
    run,
    { set: { alive_at: clock.now(), ...more } },
    { where: { status: oneOf(...ACTIVE_STATUSES) }, otherwise: () => fail('run_already_finished') },
  )

const place = (run: Run, status: RunStatus) => ({ owner: runsByStatus(run.installation_id, status), sort: run.id })

/**
 * Reads the run and calls `attempt` to decide and write. Starts over after a concurrent change. Other errors of `attempt`
 * are thrown.
 * @param known the run if it was just read or written; used by the first attempt
 * @throws `step_write_conflict` if concurrent changes don't stop
 */
export const changeRun = async <T>(
  deps: Pick<Deps, 'table'>,
  key: RunKey,
  attempt: (run: Run) => Promise<T>,
  known?: Run,
): Promise<T> => {
  let first = known
  return retryOnConflict(
    async () => {
      const run = first ?? (await loadRun(deps, key))
      first = undefined
      return attempt(run)
    },
    (cause) => fail('step_write_conflict', { cause }),
  )
}
