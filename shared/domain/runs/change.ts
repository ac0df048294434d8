import { ACTIVE_STATUSES, isActive, type Run, RunEntity, type RunStatus, runsByStatus } from '../../entities/runs.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { backoff } from '../../table/backoff.ts'
import { ConditionFailed, type Write } from '../../table/entity.ts'
import { missing, oneOf } from '../../table/expressions.ts'
import type { Deps } from '../deps.ts'
import { shownTo } from '../shown-to.ts'
import { entered } from './numbers.ts'

/** Where a run is kept. */
export interface RunKey {
  installation_id: string
  id: string
}

/** Another writer changed the run between our read and our write. */
export class RunMoved extends Error {}

/**
 * @param viewer the person who looks, where one does
 * @throws `not_found` also for a run of another installation: its key cannot be built from this one's id; and for one of
 *   another person's chat
 */
export const loadRun = async ({ table }: Pick<Deps, 'table'>, key: RunKey, viewer?: string): Promise<Run> => {
  const run = await table.get(RunEntity, key)
  if (!run || !shownTo(viewer, run)) throw noSuchRun()
  return run
}

export const noSuchRun = (): PlatformError => fail('not_found', { message: 'There is no such run.' })

/** @throws `run_already_finished` */
export const requireActive = (run: Run): Run => {
  if (!isActive(run.status)) throw fail('run_already_finished', { message: `The run has ${run.status}.` })
  return run
}

/**
 * What the agent does to a run needs one that was handed to it.
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
 * The write of a run's change, under the condition that the run is as it was read. `fields` are those that change; a new
 * status also moves the run in its installation's lists and takes the next number in its stream.
 */
export const runWrite = (run: Run, fields: { [K in keyof Run]?: Run[K] | undefined }): Write =>
  RunEntity.update(
    run,
    {
      set: { ...fields, ...(fields.status && entered(run, fields.status, fields.stream_seq)) },
      ...(fields.status && fields.status !== run.status && { list: place(run, fields.status) }),
    },
    {
      where: {
        status: run.status,
        last_seq: run.last_seq,
        step_count: run.step_count,
        stream_seq: run.stream_seq ?? missing,
        pending_step: run.pending_step ?? missing,
        dispatched_at: run.dispatched_at ?? missing,
        accepted_at: run.accepted_at ?? missing,
      },
      otherwise: () => new RunMoved(),
    },
  )

/**
 * What a run does beside its own record shows that it lives, and nothing it does after its end counts: the write of both.
 * @throws the write: `run_already_finished`
 */
export const signOfLife = ({ clock }: Pick<Deps, 'clock'>, run: Run): Write =>
  RunEntity.update(
    run,
    { set: { alive_at: clock.now() } },
    { where: { status: oneOf(...ACTIVE_STATUSES) }, otherwise: () => fail('run_already_finished') },
  )

const place = (run: Run, status: RunStatus) => ({ owner: runsByStatus(run.installation_id, status), sort: run.id })

/**
 * Reads the run, lets `attempt` decide and write, and begins again when somebody else wrote in between. What `attempt`
 * throws otherwise ends it.
 * @param known the run where it was just read: the first attempt goes on from it
 * @throws `step_write_conflict` when others keep writing
 */
export const changingRun = async <T>(
  deps: Pick<Deps, 'table'>,
  key: RunKey,
  attempt: (run: Run) => Promise<T>,
  known?: Run,
): Promise<T> => {
  for (let tries = 0; ; tries++) {
    const run = tries === 0 && known ? known : await loadRun(deps, key)
    try {
      return await attempt(run)
    } catch (error) {
      if (!(error instanceof RunMoved) && !(error instanceof ConditionFailed)) throw error
      if (tries >= 9) throw fail('step_write_conflict', { cause: error })
      await backoff(tries)
    }
  }
}
