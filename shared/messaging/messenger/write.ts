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
    const { account, thread } = await loadThread(work, asker, chatId)
    requireSendable(work, account, thread)
    const message: ThreadMessage = {
      ...stampOf(work.id('message')),
      conversation_id: thread.conversation_id,
      workspace_id: thread.workspace_id,
      thread_id: thread.id,
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
        ...messageWrites(work, thread, message),
        touchThread(work, thread, message),
        ...queueWrites(work, thread, message),
        ...agentEventWrites(work, account, thread, message),
      ],
      view,
    )
    return view
  })
