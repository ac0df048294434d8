import { type Stoppage, StoppageEntity } from '../../entities/platform.ts'
import { tell } from '../../events/outbox.ts'
import { MINUTE } from '../../kernel/clock.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'

/** What was suspended, and whose it is, for those who look at the event. */
export type Stopped = Pick<Stoppage, 'kind' | 'id' | 'workspace_id'> & { app_id?: string }

/**
 * Part of every transaction that suspends something: the runs under way there are ended right afterwards (stop-runs.ts). That
 * nothing new is handed to it, needs nothing of this: whoever acts reads the status first.
 */
export const stoppageWrites = (
  { clock }: Pick<Deps, 'clock'>,
  { kind, id, workspace_id, app_id }: Stopped,
): Write[] => {
  const now = clock.now()
  return [
    StoppageEntity.replace({ kind, id, workspace_id, created_at: now, round_at: now, step: 0, due_at: now + MINUTE }),
    tell(clock, {
      type: 'platform.suspended',
      // An app’s is of no workspace.
      workspace_id: workspace_id ?? (kind === 'workspace' ? id : 'platform'),
      app_id,
      data: { kind, id },
    }),
  ]
}
