import { CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { idTime, isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed, ifUnchanged, type Write } from '#shared/table/entity.ts'
import { either, exists, lt, missing } from '#shared/table/expressions.ts'
import type { ListSource } from '#shared/table/lists.ts'
import { isNamedByCounter, type Run, RunEntity, storedLists } from './entity.ts'
import { isActive, type RunStatus } from './status.ts'

/**
 * Counters of an installation's runs, exact under any concurrency: five active ones, and fifty that wait for answers. A
 * run is counted in one of them, by its `input_steps`.
 */
const activeRuns = (installationId: string) => ({ owner: installationId, counter: 'active_runs' })
const waitingRuns = (installationId: string) => ({ owner: installationId, counter: 'waiting_runs' })

/** Reports whether a run has unanswered questions. */
export const isWaitingForInput = ({ input_steps = [] }: Pick<Run, 'input_steps'>): boolean => input_steps.length > 0

/** Runs that the counter names: those that haven't ended, oldest first, and the one that ended last. */
export const loadNamedRuns = async (
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
 * that the counters name. They may contain active runs of other statuses.
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

/** Takes a place among the active runs. @throws the write: `too_many_active_runs` */
export const takePlace = (run: Run): Write =>
  takeActivePlace(run.installation_id, isNamedByCounter(run) ? run.id : undefined)

const takeActivePlace = (installationId: string, name?: string): Write =>
  CounterEntity.upsert(
    activeRuns(installationId),
    { set: { ...activeRuns(installationId), ...(name && { [name]: 1 }) }, add: { n: 1 } },
    { where: { n: either(missing, lt(LIMITS.activeRuns)) }, otherwise: () => fail('too_many_active_runs') },
  )

/** @throws the write: `conflict` */
const takeWaitingPlace = (installationId: string): Write =>
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
export const movePlace = (run: Run, input_steps: readonly string[]): Write[] => {
  const { installation_id: id } = run
  const waits = input_steps.length > 0
  if (waits === isWaitingForInput(run)) return []
  return waits ? [leave(activeRuns(id)), takeWaitingPlace(id)] : [leave(waitingRuns(id)), takeActivePlace(id)]
}

/** Writes that free a run's place. Part of every transaction that ends a run. @see freePlace */
export const releasePlace = (run: Run, now: number): Write[] => {
  const { installation_id: owner, id } = run
  const names = isNamedByCounter(run) && { [id]: undefined, last_id: id, last_ended_at: now }
  if (!isWaitingForInput(run))
    return [CounterEntity.update(activeRuns(owner), { ...(names && { set: names }), add: { n: -1 } })]
  return [leave(waitingRuns(owner)), ...(names ? [CounterEntity.update(activeRuns(owner), { set: names })] : [])]
}

/**
 * Takes the place of a run that the counter names before the run is created, in a plain write: the name ensures that a repeated
 * write takes one place.
 * @throws `too_many_active_runs`
 */
export const takePlaceBefore = async ({ table }: Pick<Deps, 'table'>, run: Run): Promise<void> => {
  const write = takePlace(run)
  try {
    await table.transact([{ ...write, where: { ...write.where, [run.id]: missing }, otherwise: undefined }])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    const isTaken = (error.current as Record<string, unknown> | undefined)?.[run.id] !== undefined
    if (!isTaken) throw fail('too_many_active_runs')
  }
}

/** Frees the place of a run that wasn't created. */
export const returnPlace = async (
  { table }: Pick<Deps, 'table'>,
  { installation_id, id }: Pick<Run, 'installation_id' | 'id'>,
): Promise<void> => {
  const changes = { set: { [id]: undefined }, add: { n: -1 } }
  await ifUnchanged(
    table.transact([CounterEntity.update(activeRuns(installation_id), changes, { where: { [id]: exists } })]),
  )
}

/**
 * Frees the place of a run that has ended, which the counter names, unless that was done. Calls without a run count the time
 * limit of its chain from now, so that one that is freed late doesn't take the trace of another one.
 */
export const freePlace = async ({ table, clock }: Pick<Deps, 'table' | 'clock'>, run: Run): Promise<void> => {
  const [write] = releasePlace(run, clock.now())
  if (write) await ifUnchanged(table.transact([{ ...write, where: { [run.id]: exists } }]))
}

/** Time in which a request creates its run after it took the id. Longer ones take their place with the run. */
export const CREATED_WITHIN = MINUTE

/**
 * Frees places of runs that were never created, because their request died, and of those that ended just now. Call it before a
 * place is taken, so that nobody is refused because of them.
 */
export const freeLostPlaces = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  installation_id: string,
): Promise<void> => {
  const counter = await table.get(CounterEntity, activeRuns(installation_id))
  // Another run may take a place before this one does.
  if (counter === undefined || counter.n < LIMITS.activeRuns - 1) return
  const names = namesIn(counter)
  const runs = await table.getAll(names.map((id) => RunEntity.ref({ installation_id, id })))
  for (const [i, id] of names.entries()) {
    const run = runs[i]
    if (run && !isActive(run.status)) await freePlace({ table, clock }, run)
    else if (!run && idTime(id) + CREATED_WITHIN < clock.now()) await returnPlace({ table }, { installation_id, id })
  }
}
