import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Stoppage, StoppageEntity } from './entity.ts'
import type { SuspensionEventType } from './events.ts'

/** The suspended subject and its owner, as the event names them. */
export type SuspendedSubject = Pick<Stoppage, 'kind' | 'id' | 'workspace_id'> & { app_id?: string }

/**
 * Returns the writes that every suspending transaction includes. They make a worker end the active runs right
 * afterwards (stop-runs.ts). New work needs none of this: every caller reads the status first.
 */
export const stoppageWrites = (
  { clock }: Pick<Deps, 'clock'>,
  { kind, id, workspace_id, app_id }: SuspendedSubject,
): Write[] => {
  const now = clock.now()
  return [
    StoppageEntity.replace({ kind, id, workspace_id, began_at: now, round_at: now, step: 0, due_at: now + MINUTE }),
    emitEvent<SuspensionEventType>(clock, {
      type: 'platform.suspended',
      // An app's stoppage belongs to no workspace.
      workspace_id: workspace_id ?? (kind === 'workspace' ? id : 'platform'),
      app_id,
      data: { kind, id },
    }),
  ]
}
