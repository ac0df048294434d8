import { type Run, type RunStatus, type Step, StepEntity } from '../../entities/runs.ts'
import type { Write } from '../../table/entity.ts'

/**
 * Everything that a run's live stream shows has a number: each new step and each new state takes the run's next one, and a
 * step that changes moves to a new one, in the transaction of the change and under the condition that nobody took that
 * number meanwhile. So a reader that asks for what is behind a number misses nothing.
 */

/** States kept in the run's record: a reader that was away for more is told of a gap. */
const KEPT_STATES = 50

/**
 * The fields of a run that enters a state; none when it is in that state already.
 * @param taken the greatest number that the same transaction has taken for steps
 */
export const entered = (
  run: Pick<Run, 'status' | 'stream_seq' | 'transitions' | 'transitions_lost'>,
  status: RunStatus,
  taken: number = run.stream_seq ?? 0,
): Pick<Run, 'stream_seq' | 'transitions' | 'transitions_lost'> => {
  if (status === run.status) return {}
  const stream_seq = taken + 1
  const all = [...(run.transitions ?? []), { seq: stream_seq, status }]
  return {
    stream_seq,
    transitions: all.slice(-KEPT_STATES),
    transitions_lost: all.at(-KEPT_STATES - 1)?.seq ?? run.transitions_lost,
  }
}

/** The write of a step's change, and what the run's record counts with it. */
export const changedStep = (
  { stream_seq = 0 }: Pick<Run, 'stream_seq'>,
  step: Pick<Step, 'run_id' | 'seq'>,
  fields: Partial<Pick<Step, 'status' | 'output'>>,
): { write: Write; counts: { stream_seq: number } } => {
  const next = stream_seq + 1
  return { write: StepEntity.update(step, { set: { ...fields, stream_seq: next } }), counts: { stream_seq: next } }
}
