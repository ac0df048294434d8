import type { Work } from '#shared/foundation/work/index.ts'
import { raiseReservations } from '../budgets/index.ts'
import { changeRun, type RunKey, requireActive, runWrite } from './change.ts'

/**
 * Raises a run's reservations above what its model has used so far, before it is called again.
 * @throws `budget_exceeded`, `run_already_finished`
 */
export const raiseBudgets = (
  work: Work,
  key: RunKey,
  { input_tokens, output_tokens }: { input_tokens: number; output_tokens: number },
): Promise<void> =>
  changeRun(work, key, async (run) => {
    const tokens = input_tokens + output_tokens
    const raised = await raiseReservations(work, requireActive(run), { tokens, cost_units: tokens })
    if (!raised) return
    const budgets_raised = (run.budgets_raised ?? 0) + 1
    await work.commit([runWrite(run, { budgets: raised.reserved, budgets_raised }), ...raised.writes])
  })
