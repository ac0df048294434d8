import type { Write } from '#shared/table/entity.ts'
import { type Run, type Step, StepEntity } from './entity.ts'
import type { RunStatus } from './status.ts'

/**
 * Everything in a run's live stream has a number. Each new step and each new state takes the run's next number, and a
 * changed step moves to a new one. This happens in the transaction of the change, on condition that the number is still
 * free. Readers that resume after a number therefore miss nothing.
 */

/** Maximum number of states kept in the run's record. A reader that missed more gets a gap. */
const KEPT_STATES = 50

/**
 * Returns the fields of a run that change with a new status; none if the status is the same.
 * @param taken the greatest number that the same transaction has taken for steps
 */
export const stateFields = (
  run: Pick<Run, 'status' | 'stream_seq' | 'transitions' | 'transitions_lost'>,
  status: RunStatus,
  taken: number = run.stream_seq,
): Partial<Pick<Run, 'stream_seq' | 'transitions' | 'transitions_lost'>> => {
  if (status === run.status) return {}
  const stream_seq = taken + 1
  const all = [...run.transitions, { seq: stream_seq, status }]
  return {
    stream_seq,
    transitions: all.slice(-KEPT_STATES),
    transitions_lost: all.at(-KEPT_STATES - 1)?.seq ?? run.transitions_lost,
  }
}

/** Returns the write of a step's change and the resulting counters of the run. */
export const stepChange = (
  { stream_seq }: Pick<Run, 'stream_seq'>,
  step: Pick<Step, 'run_id' | 'seq'>,
  fields: Partial<Pick<Step, 'status' | 'output'>>,
): { write: Write; counts: { stream_seq: number } } => {
  const next = stream_seq + 1
  return { write: StepEntity.update(step, { set: { ...fields, stream_seq: next } }), counts: { stream_seq: next } }
}
