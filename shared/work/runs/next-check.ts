import { LIMITS } from '#shared/kernel/limits.ts'
import type { Run } from './entity.ts'
import { isWaitingForInput } from './slots.ts'

/**
 * Reports whether a call of its declared tool, or an A2A message, waits for this run's answer. Such a run never outlives its chain
 * (contract/agent-to-agent.md#chains).
 */
export const isAwaitedByAgent = ({
  tool,
  is_detached,
  protocol,
}: Pick<Run, 'tool' | 'is_detached' | 'protocol'>): boolean =>
  (tool !== undefined || protocol === 'a2a') && !is_detached

/**
 * Returns when the sweeper checks a run next: at `at`, but no later than the end of its lifetime, and of its chain if an
 * agent waits for it. The waiting call ends the run then. The sweeper does if that call has failed.
 */
export const nextCheckAt = (
  run: Pick<Run, 'tool' | 'is_detached' | 'protocol' | 'chain_deadline' | 'ends_at'>,
  at: number | undefined,
): number | undefined => {
  const times = [at, run.ends_at, isAwaitedByAgent(run) ? run.chain_deadline : undefined]
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Returns when a run's silence is next checked after a person acted. One that waits for answers may be silent. */
export const silentAfter = (run: Pick<Run, 'accepted_at' | 'input_steps'>, now: number): number | undefined =>
  isWaitingForInput(run)
    ? undefined
    : now + (run.accepted_at === undefined ? LIMITS.agentLifeSign : LIMITS.agentSilence)
