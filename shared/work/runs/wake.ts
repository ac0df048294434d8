import type * as z from 'zod'
import type { BusMessage } from '#shared/foundation/queues/index.ts'
import { NO_TIME } from '#shared/kernel/ids.ts'

/** Builds the queue message that an outbox event would have produced. The sweeper uses it to replace a lost one. */
export const runWakeMessage = (
  type: 'run.created' | 'run.followed' | 'a2a.task_notified' | 'approval.decided',
  run: { id: string; installation_id: string; workspace_id: string; app_id: string },
  extra: { step_id?: string; round?: number } = {},
): z.infer<typeof BusMessage> => ({
  'detail-type': type,
  detail: {
    id: 'evt_sweep',
    type,
    created_at: NO_TIME,
    workspace_id: run.workspace_id,
    installation_id: run.installation_id,
    app_id: run.app_id,
    data: JSON.stringify({ run_id: run.id, installation_id: run.installation_id, ...extra }),
  },
})
