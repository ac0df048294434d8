import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { changingRun, type RunKey, requireStarted, runWrite } from './change.ts'
import type { NewStep, StepView } from './schemas.ts'
import { prepareSteps } from './steps.ts'

/**
 * `POST /runs/{id}/steps`: an asynchronous agent reports what it does. Steps without a `seq` get the next one, also when
 * several calls race.
 * @throws `run_already_finished`, `conflict` while queued, `too_many_steps`, `payload_too_large`; `step_write_conflict`
 *   for a `seq` that is taken
 */
export const addSteps = (work: Work, key: RunKey, steps: readonly NewStep[]): Promise<{ items: StepView[] }> =>
  changingRun(work, key, async (run) => {
    requireStarted(run)
    const prepared = await prepareSteps(work, run, steps)
    const answer = { items: prepared.views }
    const alive: Write = runWrite(run, { ...prepared.counts, alive_at: work.clock.now() })
    await work.commit([alive, ...prepared.writes], answer)
    return answer
  })
