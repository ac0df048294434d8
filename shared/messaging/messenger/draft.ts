import type { Work } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { msg } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Conversation } from '#shared/work/conversations/index.ts'
import { AccountEntity, accountPrivateTo, ThreadEntity } from '#shared/work/threads/index.ts'
import { DraftEntity, type ThreadMessage } from './entity.ts'
import { messageWrites } from './new-message.ts'

/** The agent assigned to the thread. */
export interface Drafting {
  installation: { id: string; app_id: string }
  name: string
  run_id?: string | undefined
}

/**
 * Creates an agent's draft, which is only sent after a person approves it (contract/messenger.md#drafts). Notifies the
 * people who see the thread.
 * @param id for callers that must write the same draft on every attempt
 * @throws `validation_error` for a text that is too long; `not_found` for a deleted thread
 */
export const newDraft = async (
  work: Work,
  conversation: Conversation,
  { installation, name, run_id }: Drafting,
  text: string,
  id = work.id('message'),
): Promise<{ message: ThreadMessage; writes: Write[] }> => {
  const { workspace_id, thread_id = '-' } = conversation
  const problem =
    [...text].length > LIMITS.messengerText
      ? `has ${[...text].length} characters; the maximum is ${LIMITS.messengerText}`
      : undefined
  if (problem) throw fail('validation_error', { details: { fields: { text: [problem] } } })
  const thread = await work.table.get(ThreadEntity, { workspace_id, id: thread_id })
  const account = thread && (await work.table.get(AccountEntity, { workspace_id, id: thread.account_id }))
  if (!account || account.status === 'removing' || thread.installation_id !== installation.id) throw noChat()
  const message: ThreadMessage = {
    ...stampOf(id),
    conversation_id: thread.conversation_id,
    workspace_id,
    thread_id,
    author: { type: 'agent', id: installation.id, name },
    direction: 'out',
    status: 'draft',
    content: 'text',
    text,
    attachments: [],
    run_id,
  }
  const { conversation_id } = message
  return {
    message,
    writes: [
      ...messageWrites(work, thread, message),
      DraftEntity.create({ workspace_id, message_id: message.id, thread_id, conversation_id }),
      ...newNotification(work, {
        workspace_id,
        user_id: accountPrivateTo(account),
        kind: 'messenger.draft',
        title: msg('{agent} drafted a message', { agent: quoteName(name) }),
        body: msg('Approve or reject the draft.'),
        installation_id: installation.id,
        app_id: installation.app_id,
        target: { type: 'messenger_chat', id: thread_id },
      }).writes,
    ],
  }
}

const noChat = () => fail('not_found', { message: 'The thread was deleted or is no longer assigned to this agent.' })
