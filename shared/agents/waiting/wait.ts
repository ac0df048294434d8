import type { Deps } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { isActive, loadRun, type Run, type RunKey } from '#shared/work/runs/index.ts'
import { type OpenRequest, paceChecks } from './pace.ts'

const PAUSES = { first: 150, growth: 1, longest: 150 }

/**
 * Waits for a run's end. After the agent's 202 it waits at most 60 seconds, then returns the run as it is
 * (contract/apps-and-manifests.md#test-runs).
 * @param open the run's request, if this process has sent it
 */
export const waitForRun = async (deps: Pick<Deps, 'table'>, key: RunKey, open?: OpenRequest): Promise<Run> => {
  const started = performance.now()
  const checks = paceChecks(PAUSES, open)
  let acceptedAt: number | undefined
  for (;;) {
    await checks.pause(LIMITS.agentWait)
    const run = await loadRun(deps, key)
    const now = performance.now()
    if (!isActive(run.status)) return run
    if (run.accepted_at !== undefined) acceptedAt ??= now
    if (acceptedAt !== undefined && now - acceptedAt >= LIMITS.testRunWait) return run
    // The agent's 30 seconds and the 60 after its 202 fit. A worker that was lost, or attempts that were repeated, may not.
    if (now - started >= LIMITS.agentWait) return run
  }
}
