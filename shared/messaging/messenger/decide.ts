import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { AccountViewer } from '#shared/work/threads/index.ts'
import { DraftEntity, type ThreadMessage, ThreadMessageEntity } from './entity.ts'
import { queueWrites, touchThread } from './outgoing.ts'
import { presentThreadMessage } from './present.ts'
import type { ThreadMessageView } from './schemas.ts'
import { requireSendable } from './sendable.ts'
import { loadThread, type ThreadWithAccount } from './threads.ts'

/**
 * Sends an agent's draft, optionally with a different text. Of two concurrent decisions, one wins.
 * @throws `not_found`; `approval_already_decided`; `conflict` when the thread can't be replied to
 */
export const approveDraft = (work: Work, asker: AccountViewer, id: string, text?: string): Promise<ThreadMessageView> =>
  decide(work, asker, id, 'approved', ({ account, thread }, draft) => {
    requireSendable(work, account, thread)
    const message: ThreadMessage = { ...draft, status: 'sending', text: text ?? draft.text }
    return {
      message,
      writes: [touchThread(work, thread, message), ...queueWrites(work, thread, message)],
      details: { edited: message.text !== draft.text },
    }
  })

/** @throws `not_found`; `approval_already_decided` */
export const rejectDraft = (work: Work, asker: AccountViewer, id: string): Promise<ThreadMessageView> =>
  decide(work, asker, id, 'rejected', (_, draft) => ({
    message: { ...draft, status: 'rejected' },
    writes: [],
    details: {},
  }))

type Decided = { message: ThreadMessage; writes: Write[]; details: Record<string, unknown> }

const decide = (
  work: Work,
  asker: AccountViewer,
  id: string,
  decision: 'approved' | 'rejected',
  of: (chat: ThreadWithAccount, draft: ThreadMessage) => Decided,
): Promise<ThreadMessageView> =>
  retryOnConflict(async () => {
    const place = await work.table.get(DraftEntity, { workspace_id: asker.workspace.id, message_id: id })
    if (!place) throw noDraft()
    const chat = await loadThread(work, asker, place.thread_id)
    const draft = await work.table.get(ThreadMessageEntity, { conversation_id: place.conversation_id, id })
    if (!draft) throw noDraft()
    if (draft.status !== 'draft') throw decided()
    const { message, writes, details } = of(chat, draft)
    const decided_by = { id: asker.user.id, name: asker.user.name }
    const { status, text } = message
    const view = presentThreadMessage({ ...message, decided_by })
    await work.commit(
      [
        ThreadMessageEntity.update(
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
          { chat_id: chat.thread.id, ...details },
        ),
      ],
      view,
    )
    return view
  })

const noDraft = () => fail('not_found', { message: 'Draft not found, or you don’t have access to it.' })

const decided = () =>
  fail('approval_already_decided', {
    message: 'The draft has already been approved or rejected.',
    fix: 'List the thread’s messages to see the decision.',
  })
