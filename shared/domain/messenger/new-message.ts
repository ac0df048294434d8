import { ConversationEntity, conversationPlace } from '../../entities/conversations.ts'
import { type Account, type Dialog, type DialogMessage, DialogMessageEntity } from '../../entities/messenger.ts'
import { tell } from '../../events/outbox.ts'
import type { Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { privateTo } from './accounts.ts'

/**
 * A message of a chat that exists, in its conversation. The agent that has the chat finds it in front of its list; of one
 * that loses the chat at the same moment the write fails.
 */
export const messageWrites = (work: Work, dialog: Dialog, message: DialogMessage): Write[] => {
  const { workspace_id, conversation_id: id, installation_id } = dialog
  const last_message_at = work.clock.now()
  const list = conversationPlace({ id, installation_id, last_message_at, created_at: dialog.created_at })
  return [
    DialogMessageEntity.create(message),
    ConversationEntity.update(
      { workspace_id, id },
      { set: { last_message_at }, ...(list && { list }) },
      { where: { installation_id: installation_id ?? missing } },
    ),
  ]
}

/** Tells the agent that has the chat, if one does. */
export const toldAgent = (
  work: Work,
  account: Account,
  { workspace_id, installation_id }: Dialog,
  message: DialogMessage,
): Write[] => {
  const { id: message_id, conversation_id, text, author } = message
  if (installation_id === undefined) return []
  const data = { message_id, conversation_id, text, author }
  const private_to = privateTo(account)
  return [tell(work.clock, { type: 'message.created', workspace_id, installation_id, private_to, data })]
}
