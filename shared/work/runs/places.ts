import { CounterEntity } from '#shared/foundation/claims/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, lt, missing } from '#shared/table/expressions.ts'
import type { Run } from './entity.ts'

/**
 * Counters of an installation's runs, exact under any concurrency: five active ones, and fifty that wait for answers. A
 * run is counted in one of them, by its `input_steps`.
 */
const activeRuns = (installationId: string) => ({ owner: installationId, counter: 'active_runs' })
const waitingRuns = (installationId: string) => ({ owner: installationId, counter: 'waiting_runs' })

/** Reports whether a run has unanswered questions. */
export const isWaitingForInput = ({ input_steps = [] }: Pick<Run, 'input_steps'>): boolean => input_steps.length > 0

/** @throws the write: `too_many_active_runs` */
export const takeActivePlace = (installationId: string): Write =>
  CounterEntity.upsert(
    activeRuns(installationId),
    { set: activeRuns(installationId), add: { n: 1 } },
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

/** Write that frees a run's place. Part of every transaction that ends a run. */
export const releasePlace = (run: Run): Write =>
  leave((isWaitingForInput(run) ? waitingRuns : activeRuns)(run.installation_id))
