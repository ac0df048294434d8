import type { Work } from '#shared/foundation/work/index.ts'
import type { TokenUsage } from '#shared/kernel/token-usage.ts'
import { raiseReservations } from '../budgets/index.ts'
import { changeRun, type RunKey, requireActive, runWrite } from './change.ts'
import { tokensOf } from './usage.ts'

/**
 * Raises a run's reservations above what its model has used so far, before it is called again.
 * @throws `budget_exceeded`, `run_already_finished`
 */
export const raiseBudgets = (work: Work, key: RunKey, usage: TokenUsage): Promise<void> =>
  changeRun(work, key, async (run) => {
    const tokens = tokensOf(usage)
    const raised = await raiseReservations(work, requireActive(run), { tokens, cost_units: tokens })
    if (!raised) return
    const budgets_raised = (run.budgets_raised ?? 0) + 1
    await work.commit([runWrite(run, { budgets: raised.reserved, budgets_raised }), ...raised.writes])
  })
