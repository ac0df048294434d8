import { isDeepStrictEqual } from 'node:util'
import type { Work } from '#shared/foundation/work/index.ts'
import type { User } from '#shared/identity/people/index.ts'
import type { ItemOf, Key } from '#shared/table/entity.ts'
import {
  finishIf,
  isActive,
  type Run,
  RunEntity,
  StepEntity,
  type WorkspaceRunEntity,
} from '#shared/work/runs/index.ts'
import { type Budget, spendBudget } from './budget.ts'
import { createPartitionRemover } from './partitions.ts'
import { payloadsIn, personalIn } from './records.ts'
import { changeRecord, renameInRecord } from './rename-record.ts'

/**
 * Replaces the name in the runs that a page of places names. The orchestrator's runs can be found only by their places.
 */
export const renameInRuns = async (
  work: Work,
  places: readonly ItemOf<typeof WorkspaceRunEntity>[],
  user: User,
  budget: Budget,
): Promise<void> => {
  const keys = places.map(({ installation_id, run_id }) => RunEntity.key({ installation_id, id: run_id }))
  const runs = await loadRuns(work, keys)
  for (const [i, run] of runs.entries()) {
    if (!run) continue
    const key = keys[i] as Key
    const read = run.private_to === user.id ? await clearRun(work, key, run, budget) : run
    if (read) await renameInRecord(work, RunEntity.name, key, read, user, budget)
  }
}

/** Loads the stored runs, including those hidden from readers. */
const loadRuns = ({ table }: Work, keys: readonly Key[]): Promise<(Run | undefined)[]> =>
  table.getAll(
    keys.map((key) => ({ entity: RunEntity, key })),
    true,
  )

/**
 * Ends a run of the person's own conversation and clears it. It keeps the fields that count it. Its messages, its
 * results and its questions to the person are removed.
 */
const clearRun = async (work: Work, key: Key, run: Run, budget: Budget): Promise<Run | undefined> => {
  spendBudget(budget)
  if (isActive(run.status)) await finishIf(work, run, () => true, { status: 'cancelled' })
  await createPartitionRemover(work, budget).empty(StepEntity.partition({ run_id: run.id }))
  const [ended] = await loadRuns(work, [key])
  if (!ended) return undefined
  for (const object of payloadsIn(ended)) await work.objects.delete(object)
  await changeRecord(work, { name: RunEntity.name, key, read: ended }, withoutText, budget)
  const [unread] = await loadRuns(work, [key])
  return unread
}

/** Clears the texts that the entity declares. The input is required, so it stays as an empty object. */
const withoutText = (run: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    (personalIn(RunEntity.name).text ?? []).flatMap((field) => {
      const cleared = field === 'input' ? { json: '{}' } : undefined
      return isDeepStrictEqual(run[field], cleared) ? [] : [[field, cleared]]
    }),
  )
