import { type DialogMessage, DialogMessageEntity, DraftEntity } from '../../entities/messenger.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import type { Asker } from './accounts.ts'
import { type Chat, chatOf } from './chats.ts'
import { requireSendable } from './may-send.ts'
import { queueWrites, touchDialog } from './outgoing.ts'
import { presentChatMessage } from './present.ts'
import type { ChatMessageView } from './schemas.ts'

/**
 * Sends an agent's draft, as it is or with another text. Of two who decide, one does.
 * @throws `not_found`; `approval_already_decided`; `conflict` when nothing can be sent there
 */
export const approveDraft = (work: Work, asker: Asker, id: string, text?: string): Promise<ChatMessageView> =>
  decide(work, asker, id, 'approved', ({ account, dialog }, draft) => {
    requireSendable(work, account, dialog)
    const message: DialogMessage = { ...draft, status: 'sending', text: text ?? draft.text }
    return {
      message,
      writes: [touchDialog(work, dialog, message), ...queueWrites(work, dialog, message)],
      details: { edited: message.text !== draft.text },
    }
  })

/** @throws `not_found`; `approval_already_decided` */
export const rejectDraft = (work: Work, asker: Asker, id: string): Promise<ChatMessageView> =>
  decide(work, asker, id, 'rejected', (_, draft) => ({
    message: { ...draft, status: 'rejected' },
    writes: [],
    details: {},
  }))

type Decided = { message: DialogMessage; writes: Write[]; details: Record<string, unknown> }

const decide = (
  work: Work,
  asker: Asker,
  id: string,
  decision: 'approved' | 'rejected',
  of: (chat: Chat, draft: DialogMessage) => Decided,
): Promise<ChatMessageView> =>
  tryAgain(async () => {
    const place = await work.table.get(DraftEntity, { workspace_id: asker.workspace.id, message_id: id })
    if (!place) throw noDraft()
    const chat = await chatOf(work, asker, place.dialog_id)
    const draft = await work.table.get(DialogMessageEntity, { conversation_id: place.conversation_id, id })
    if (!draft) throw noDraft()
    if (draft.status !== 'draft') throw decided()
    const { message, writes, details } = of(chat, draft)
    const decided_by = { id: asker.user.id, name: asker.user.name }
    const { status, text } = message
    const view = presentChatMessage({ ...message, decided_by })
    await work.commit(
      [
        DialogMessageEntity.update(
          draft,
          { set: { status, text, decided_by } },
          { where: { status: 'draft' }, otherwise: decided },
        ),
        ...writes,
        auditPerson(
          work,
          { workspaceId: asker.workspace.id, userId: asker.user.id },
          `messenger.draft_${decision}`,
          { type: 'message', id },
          { chat_id: chat.dialog.id, ...details },
        ),
      ],
      view,
    )
    return view
  })

const noDraft = () => fail('not_found', { message: 'There is no such draft.' })

const decided = () =>
  fail('approval_already_decided', {
    message: 'The draft was already decided.',
    fix: 'Read the chat’s messages to see what became of it.',
  })
