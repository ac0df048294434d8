import type { Work } from '#shared/foundation/work/index.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { AccountViewer } from '#shared/work/threads/index.ts'
import type { ThreadMessage } from './entity.ts'
import { agentEventWrites, messageWrites } from './new-message.ts'
import { queueWrites, touchThread } from './outgoing.ts'
import { presentThreadMessage } from './present.ts'
import type { ThreadMessageView } from './schemas.ts'
import { requireSendable } from './sendable.ts'
import { loadThread } from './threads.ts'

/** Queues a person's message in its thread. @throws `not_found`; `conflict` when the thread can't be replied to */
export const writeAsPerson = (
  work: Work,
  asker: AccountViewer,
  chatId: string,
  text: string,
): Promise<ThreadMessageView> =>
  retryOnConflict(async () => {
    const { account, dialog } = await loadThread(work, asker, chatId)
    requireSendable(work, account, dialog)
    const message: ThreadMessage = {
      ...stampOf(work.id('message')),
      conversation_id: dialog.conversation_id,
      workspace_id: dialog.workspace_id,
      dialog_id: dialog.id,
      author: { type: 'user', id: asker.user.id, name: asker.user.name },
      direction: 'out',
      status: 'sending',
      content: 'text',
      text,
      attachments: [],
    }
    const view = presentThreadMessage(message)
    await work.commit(
      [
        ...messageWrites(work, dialog, message),
        touchThread(work, dialog, message),
        ...queueWrites(work, dialog, message),
        ...agentEventWrites(work, account, dialog, message),
      ],
      view,
    )
    return view
  })
