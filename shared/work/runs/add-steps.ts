import type { Work } from '#shared/foundation/work/index.ts'
import { changeRun, type RunKey, requireStarted, runWrite } from './change.ts'
import type { Run } from './entity.ts'
import type { NewStep, StepView } from './schemas.ts'
import { prepareSteps } from './steps.ts'

/**
 * Handles `POST /runs/{id}/steps`: an asynchronous agent reports its progress. Steps without a `seq` get the next one, even
 * under concurrent calls.
 * @param known the run if it was just read
 * @throws `run_already_finished`, `conflict` while queued, `too_many_steps`, `payload_too_large`; `step_write_conflict`
 *   for a `seq` that is in use
 */
export const addSteps = (
  work: Work,
  key: RunKey,
  steps: readonly NewStep[],
  known?: Run,
): Promise<{ items: StepView[] }> =>
  changeRun(
    work,
    key,
    async (run) => {
      requireStarted(run)
      const prepared = await prepareSteps(work, run, steps)
      const response = { items: prepared.views }
      const change = runWrite(run, { ...prepared.counts, alive_at: work.clock.now() })
      await work.commit([change, ...prepared.writes], response)
      return response
    },
    known,
  )
