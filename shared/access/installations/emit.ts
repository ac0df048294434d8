import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Installation } from './entity.ts'
import type { InstallationEventType } from './events.ts'

/**
 * Outbox event for an installation's change (contract/events-and-webhooks.md#event-types). `installation` is the state
 * after the change.
 * @param isLast the installation itself sees it as its last event, whatever it may read
 */
export const emitInstallationEvent = (
  { clock }: Pick<Deps, 'clock'>,
  type: 'installation.created' | 'installation.updated' | 'installation.removed',
  {
    id,
    workspace_id,
    app_id,
    status,
    scopes,
    withdrawn_at,
    created_at,
  }: Pick<Installation, 'id' | 'workspace_id' | 'app_id' | 'status' | 'scopes' | 'withdrawn_at' | 'created_at'>,
  { isLast }: { isLast?: boolean } = {},
): Write =>
  emitEvent<InstallationEventType>(clock, {
    type,
    workspace_id,
    app_id,
    ...(isLast && { last_for: id }),
    ...(type === 'installation.created' && { at: created_at }),
    data: {
      installation_id: id,
      app_id,
      status,
      scopes,
      ...(status !== 'revoked' && withdrawn_at !== undefined && { reason: 'access_withdrawn' }),
    },
  })

/** Outbox event that wakes the worker which ends the runs of an installation without a consent. */
export const emitAccessWithdrawn = (
  { clock }: Pick<Deps, 'clock'>,
  { id, workspace_id, app_id }: Pick<Installation, 'id' | 'workspace_id' | 'app_id'>,
): Write =>
  emitEvent<InstallationEventType>(clock, {
    type: 'access.withdrawn',
    workspace_id,
    app_id,
    data: { installation_id: id },
  })
