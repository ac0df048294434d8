import type * as z from 'zod'
import type { BusMessage } from '#shared/foundation/queues/index.ts'
import { NO_TIME } from '#shared/kernel/ids.ts'

type Wake = { body: z.infer<typeof BusMessage>; delayMs: number; group: string }

const wake = (
  type: string,
  workspace_id: string,
  data: Record<string, string>,
  group: string,
  delayMs: number,
): Wake => ({
  body: {
    'detail-type': type,
    detail: { id: 'evt_wake', type, created_at: NO_TIME, workspace_id, data: JSON.stringify(data) },
  },
  delayMs,
  group,
})

/** Wakes the worker to send a thread's messages. Grouped by account, so that a busy account only delays itself. */
export const threadWake = (of: { workspace_id: string; dialog_id: string; account_id: string }, delayMs = 0): Wake => {
  const { workspace_id, dialog_id, account_id } = of
  return wake('messenger.send', workspace_id, { workspace_id, dialog_id }, account_id, delayMs)
}

/** Wakes the worker to connect or remove an account. */
export const accountWake = ({ workspace_id, id }: { workspace_id: string; id: string }): Wake =>
  wake('messenger.account', workspace_id, { workspace_id, account_id: id }, id, 0)
