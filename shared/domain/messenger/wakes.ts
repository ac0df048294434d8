import type * as z from 'zod'
import type { BusMessage } from '../../events/queues.ts'

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
    detail: { id: 'evt_wake', type, created_at: 0, workspace_id, data: JSON.stringify(data) },
  },
  delayMs,
  group,
})

/** The message that has a chat's messages sent. Its group keeps a busy account behind itself. */
export const wakeForDialog = (
  of: { workspace_id: string; dialog_id: string; account_id: string },
  delayMs = 0,
): Wake => {
  const { workspace_id, dialog_id, account_id } = of
  return wake('messenger.send', workspace_id, { workspace_id, dialog_id }, account_id, delayMs)
}

/** The message that has an account connected or removed. */
export const wakeForAccount = ({ workspace_id, id }: { workspace_id: string; id: string }): Wake =>
  wake('messenger.account', workspace_id, { workspace_id, account_id: id }, id, 0)
