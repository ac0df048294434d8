import type { Conversation } from '../../entities/conversations.ts'
import { AccountEntity, DialogEntity, type DialogMessage, DraftEntity } from '../../entities/messenger.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { newNotification } from '../notifications/new.ts'
import { privateTo } from './accounts.ts'
import { messageWrites } from './new-message.ts'

/** The agent that has the chat. */
export interface Drafting {
  installation: { id: string; app_id: string }
  name: string
  run_id?: string | undefined
}

/**
 * What an agent wants to say in a messenger chat: a draft that only a person's approval sends (decisions §3), and a
 * notification to those who see the chat.
 * @param at its id and time, where every try has to write the same draft
 * @throws `validation_error` for a text that Telegram would not take; `not_found` for a chat that is gone
 */
export const newDraft = async (
  work: Work,
  conversation: Conversation,
  { installation, name, run_id }: Drafting,
  text: string,
  at: { id: string; created_at: number } = { id: work.id('message'), created_at: work.clock.now() },
): Promise<{ message: DialogMessage; writes: Write[] }> => {
  const { workspace_id, dialog_id = '-' } = conversation
  const problem =
    [...text].length > LIMITS.messengerText ? `has more than ${LIMITS.messengerText} characters` : undefined
  if (problem) throw fail('validation_error', { details: { fields: { text: [problem] } } })
  const dialog = await work.table.get(DialogEntity, { workspace_id, id: dialog_id })
  const account = dialog && (await work.table.get(AccountEntity, { workspace_id, id: dialog.account_id }))
  if (!account || account.status === 'removing' || dialog.installation_id !== installation.id) throw noChat()
  const message: DialogMessage = {
    ...at,
    conversation_id: dialog.conversation_id,
    workspace_id,
    dialog_id,
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
      ...messageWrites(work, dialog, message),
      DraftEntity.create({ workspace_id, message_id: message.id, dialog_id, conversation_id }),
      ...newNotification(work, {
        workspace_id,
        user_id: privateTo(account),
        kind: 'messenger.draft',
        title: `${name} drafted a message`,
        body: 'It waits to be approved or rejected.',
        installation_id: installation.id,
        app_id: installation.app_id,
        target: { type: 'messenger_chat', id: dialog_id },
      }).writes,
    ],
  }
}

const noChat = () => fail('not_found', { message: 'The chat is not this agent’s any more.' })
