import { setTimeout as pause } from 'node:timers/promises'
import { isActive, type Run } from '../../entities/runs.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Deps } from '../deps.ts'
import { loadRun, type RunKey } from './change.ts'

/** From creation to the agent's answer: the dispatcher's way to it, its 30 seconds, and a margin for a lost worker. */
const UNTIL_ANSWER = 100_000

/**
 * Waits for a run's end by reading it. After the agent's 202 it waits 60 seconds, then gives the run as it is
 * (decisions §4).
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
    if (now - started >= UNTIL_ANSWER + LIMITS.testRunWait) return run
    await pause(everyMs)
  }
}
