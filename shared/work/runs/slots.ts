import { CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, lt, missing } from '#shared/table/expressions.ts'
import type { ListSource } from '#shared/table/lists.ts'
import { isNamedBySlot, type Run, RunEntity, storedLists } from './entity.ts'
import { isActive, type RunStatus } from './status.ts'

/**
 * Counters of an installation's runs, exact under any concurrency: five active ones, and fifty that wait for answers. A
 * run is counted in one of them, by its `input_steps`.
 */
const activeRuns = (installationId: string) => ({ owner: installationId, counter: 'active_runs' })
const waitingRuns = (installationId: string) => ({ owner: installationId, counter: 'waiting_runs' })

/** Reports whether a run has unanswered questions. */
export const isWaitingForInput = ({ input_steps = [] }: Pick<Run, 'input_steps'>): boolean => input_steps.length > 0

/** Runs that slots name: those that haven't ended, oldest first, and the one that ended last. */
export const loadRunsInSlots = async (
  { table }: Pick<Deps, 'table'>,
  installationId: string,
): Promise<{ active: string[]; last: { id: string; ended_at: number } | undefined }> => {
  const counter: Record<string, string | number> = (await table.get(CounterEntity, activeRuns(installationId))) ?? {}
  const { last_id, last_ended_at } = counter
  return {
    active: namesIn(counter),
    last: last_id === undefined ? undefined : { id: String(last_id), ended_at: Number(last_ended_at) },
  }
}

const namesIn = (counter: Readonly<Record<string, unknown>> = {}): string[] =>
  Object.keys(counter)
    .filter((name) => isId('run', name))
    .sort()

/**
 * Returns the sources of these installations' runs with these statuses, for a merged list: the stored lists, and active runs
 * that slots name. They may contain active runs of other statuses.
 */
export const runsWithStatus = async (
  { table }: Pick<Deps, 'table'>,
  installationIds: readonly string[],
  statuses: readonly RunStatus[],
): Promise<ListSource[]> => {
  const lists = installationIds.flatMap((id) => storedLists(id, statuses))
  if (!statuses.some(isActive)) return lists
  const counters = await table.getAll(installationIds.map((id) => CounterEntity.ref(activeRuns(id))))
  const keys = installationIds.flatMap((installation_id, i) =>
    namesIn(counters[i]).map((id) => ({ ...RunEntity.key({ installation_id, id }), sort: id })),
  )
  return [...lists, { keys }]
}

/** Takes a slot among the active runs. @throws the write: `too_many_active_runs` */
export const takeSlot = (run: Run): Write =>
  takeActiveSlot(run.installation_id, isNamedBySlot(run) ? run.id : undefined)

const takeActiveSlot = (installationId: string, name?: string): Write =>
  CounterEntity.upsert(
    activeRuns(installationId),
    { set: { ...activeRuns(installationId), ...(name && { [name]: 1 }) }, add: { n: 1 } },
    { where: { n: either(missing, lt(LIMITS.activeRuns)) }, otherwise: () => fail('too_many_active_runs') },
  )

/** @throws the write: `conflict` */
const takeWaitingSlot = (installationId: string): Write =>
  CounterEntity.upsert(
    waitingRuns(installationId),
    { set: waitingRuns(installationId), add: { n: 1 } },
    {
      where: { n: either(missing, lt(LIMITS.waitingRuns)) },
      otherwise: () =>
        fail('conflict', {
          message: `${LIMITS.waitingRuns} runs of this installation already wait for answers.`,
          fix: 'Wait until one of them is answered, or cancel one.',
        }),
    },
  )

const leave = (counter: ReturnType<typeof activeRuns>): Write => CounterEntity.update(counter, { add: { n: -1 } })

/** Writes that move a run between the two counters, if its waiting changes. @throws the writes: see above */
export const moveSlot = (run: Run, input_steps: readonly string[]): Write[] => {
  const { installation_id: id } = run
  const waits = input_steps.length > 0
  if (waits === isWaitingForInput(run)) return []
  return waits ? [leave(activeRuns(id)), takeWaitingSlot(id)] : [leave(waitingRuns(id)), takeActiveSlot(id)]
}

/** Writes that free a run's slot. Part of every transaction that ends a run. */
export const releaseSlot = (run: Run, now: number): Write[] => {
  const { installation_id: owner, id } = run
  const names = isNamedBySlot(run) && { [id]: undefined, last_id: id, last_ended_at: now }
  if (!isWaitingForInput(run))
    return [CounterEntity.update(activeRuns(owner), { ...(names && { set: names }), add: { n: -1 } })]
  return [leave(waitingRuns(owner)), ...(names ? [CounterEntity.update(activeRuns(owner), { set: names })] : [])]
}
