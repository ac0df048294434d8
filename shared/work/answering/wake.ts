import type * as z from 'zod'
import type { BusMessage } from '#shared/foundation/queues/index.ts'
import { NO_TIME } from '#shared/kernel/ids.ts'

/** Builds the queue message that the outbox event `chat.moved` would have produced, to advance a conversation. */
export const chatWakeMessage = (chat: {
  conversation_id: string
  workspace_id: string
}): z.infer<typeof BusMessage> => ({
  'detail-type': 'chat.moved',
  detail: {
    id: 'evt_sweep',
    type: 'chat.moved',
    created_at: NO_TIME,
    workspace_id: chat.workspace_id,
    data: JSON.stringify({ conversation_id: chat.conversation_id }),
  },
})
