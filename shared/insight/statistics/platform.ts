import { type Added, platformCountWrite, type Sharded } from '#shared/foundation/counters/index.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Run } from '#shared/work/runs/index.ts'

/** Fields of a run that the platform's counters depend on. */
type CountedRun = Pick<Run, 'is_sandbox'> & Pick<Partial<Run>, 'cost_units'>

/**
 * Returns the writes that count an event for the platform, for the transaction that marks it as counted.
 * @param run the event's run, if it still exists; the event counts without it
 * @param spread determines the shard. Events that are counted together share it.
 */
export const platformWrites = (
  deps: Sharded,
  event: OutboxEvent,
  run: CountedRun | undefined,
  spread: string,
): Write[] => {
  const count = (added: Added): Write => platformCountWrite(deps, event.created_at, spread, added)
  switch (event.type) {
    case 'run.created':
      return [count({ runs: 1, sandbox_runs: run?.is_sandbox ? 1 : 0 })]
    case 'run.succeeded':
      return [count({ succeeded: 1, cost_units: run?.cost_units ?? 0 })]
    case 'run.failed':
      return [count({ failed: 1, cost_units: run?.cost_units ?? 0 })]
    case 'run.cancelled':
      return [count({ cancelled: 1, cost_units: run?.cost_units ?? 0 })]
    case 'installation.created':
      return [count({ installed: 1 })]
    case 'installation.removed':
      return [count({ uninstalled: 1 })]
    default:
      return []
  }
}
