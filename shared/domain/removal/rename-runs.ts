import type { User } from '../../entities/people.ts'
import { isActive, type Run, RunEntity, StepEntity, type WorkspaceRunEntity } from '../../entities/runs.ts'
import type { ItemOf, Key } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { finishIf } from '../runs/finish.ts'
import { type Budget, spend } from './budget.ts'
import { emptying } from './empty.ts'
import { payloadsIn } from './fates.ts'
import { changeRecord, renameIn } from './rename-record.ts'

/** In the runs that have their places on a page: those of the orchestrator are found by nothing else. */
export const renameInRuns = async (
  work: Work,
  places: readonly ItemOf<typeof WorkspaceRunEntity>[],
  user: User,
  budget: Budget,
): Promise<void> => {
  const keys = places.map(({ installation_id, run_id }) => RunEntity.key({ installation_id, id: run_id }))
  const runs = await stored(work, keys)
  for (const [i, run] of runs.entries()) {
    if (!run) continue
    const key = keys[i] as Key
    const read = run.private_to === user.id ? await cleared(work, key, run, budget) : run
    if (read) await renameIn(work, RunEntity.name, key, read, user, budget)
  }
}

/** Those that readers have lost, too. */
const stored = ({ table }: Work, keys: readonly Key[]): Promise<(Run | undefined)[]> =>
  table.getAll(
    keys.map((key) => ({ entity: RunEntity, key })),
    true,
  )

/**
 * A run of the person's own chat ends, and keeps what it counts by: nothing of what was said in it, done for it or asked of the
 * person.
 */
const cleared = async (work: Work, key: Key, run: Run, budget: Budget): Promise<Run | undefined> => {
  spend(budget)
  if (isActive(run.status)) await finishIf(work, run, () => true, { status: 'cancelled' })
  await emptying(work, budget).empty(StepEntity.partition({ run_id: run.id }))
  const [ended] = await stored(work, [key])
  if (!ended) return undefined
  for (const object of payloadsIn(ended)) await work.objects.delete(object)
  await changeRecord(work, { name: RunEntity.name, key, read: ended }, unsaid, budget)
  const [unread] = await stored(work, [key])
  return unread
}

const NOTHING = '{}'

const unsaid = ({ input, output, error_message }: Partial<Run>): Partial<Run> => ({
  ...((input as { json?: string }).json !== NOTHING && { input: { json: NOTHING } }),
  ...(output !== undefined && { output: undefined }),
  ...(error_message !== undefined && { error_message: undefined }),
})
