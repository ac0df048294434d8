import type { DialogMessage } from '../../entities/messenger.ts'
import type { Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import type { Asker } from './accounts.ts'
import { chatOf } from './chats.ts'
import { requireSendable } from './may-send.ts'
import { messageWrites, toldAgent } from './new-message.ts'
import { queueWrites, touchDialog } from './outgoing.ts'
import { presentChatMessage } from './present.ts'
import type { ChatMessageView } from './schemas.ts'

/**
 * A person's message: it waits for its turn in its chat and goes out.
 * @throws `not_found`; `conflict` when nothing can be sent there
 */
export const writeAsPerson = (work: Work, asker: Asker, chatId: string, text: string): Promise<ChatMessageView> =>
  tryAgain(async () => {
    const { account, dialog } = await chatOf(work, asker, chatId)
    requireSendable(work, account, dialog)
    const message: DialogMessage = {
      id: work.id('message'),
      conversation_id: dialog.conversation_id,
      workspace_id: dialog.workspace_id,
      dialog_id: dialog.id,
      author: { type: 'user', id: asker.user.id, name: asker.user.name },
      direction: 'out',
      status: 'sending',
      content: 'text',
      text,
      attachments: [],
      created_at: work.clock.now(),
    }
    const view = presentChatMessage(message)
    await work.commit(
      [
        ...messageWrites(work, dialog, message),
        touchDialog(work, dialog, message),
        ...queueWrites(work, dialog, message),
        ...toldAgent(work, account, dialog, message),
      ],
      view,
    )
    return view
  })
