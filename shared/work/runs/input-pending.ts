import type { Deps } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { type InputRequest, InputRequestEntity, type Run } from './entity.ts'
import { stepChange } from './stream-numbers.ts'

/** Loads a run's unanswered questions, oldest first. */
export const loadPendingInputs = async (
  { table }: Pick<Deps, 'table'>,
  { id: run_id, input_steps = [] }: Pick<Run, 'id' | 'input_steps'>,
): Promise<InputRequest[]> => {
  if (input_steps.length === 0) return []
  const found = await table.getAll(input_steps.map((step_id) => InputRequestEntity.ref({ run_id, step_id })))
  return found.filter((asked): asked is InputRequest => asked?.status === 'pending')
}

/**
 * Writes that void the unanswered questions of a run that ends.
 * @param run state after the earlier writes of the same transaction to its stream
 */
export const voidInputWrites = async (deps: Pick<Deps, 'table'>, run: Run) => {
  let counts: Partial<Pick<Run, 'stream_seq'>> = {}
  const writes: Write[] = []
  for (const asked of await loadPendingInputs(deps, run)) {
    const step = stepChange({ ...run, ...counts }, asked, { status: 'voided' })
    counts = step.counts
    writes.push(
      InputRequestEntity.update(
        asked,
        { set: { status: 'voided', due_at: undefined }, list: null },
        { where: { status: 'pending' } },
      ),
      step.write,
    )
  }
  return { writes, counts }
}
