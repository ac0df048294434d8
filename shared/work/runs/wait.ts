import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { loadRun, type RunKey } from './change.ts'
import type { Run } from './entity.ts'
import { isActive } from './status.ts'

/**
 * Waits for a run's end by polling. After the agent's 202 it waits at most 60 seconds, then returns the run as it is
 * (contract/apps-and-manifests.md#test-runs).
 */
export const waitForRun = async (deps: Pick<Deps, 'table'>, key: RunKey, everyMs = 150): Promise<Run> => {
  const started = performance.now()
  let acceptedAt: number | undefined
  for (;;) {
    const run = await loadRun(deps, key)
    const now = performance.now()
    if (!isActive(run.status)) return run
    if (run.accepted_at !== undefined) acceptedAt ??= now
    if (acceptedAt !== undefined && now - acceptedAt >= LIMITS.testRunWait) return run
    // The agent's 30 seconds and the 60 after its 202 fit. A worker that was lost, or attempts that were repeated, may not.
    if (now - started >= LIMITS.agentWait) return run
    await pause(everyMs)
  }
}
