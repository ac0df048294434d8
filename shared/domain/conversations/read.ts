import { type Conversation, ConversationEntity, type Message, MessageEntity } from '../../entities/conversations.ts'
import type { Installation } from '../../entities/installations.ts'
import { fail } from '../../kernel/errors.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { fittingPage, textBytes } from '../answer-size.ts'
import type { Deps } from '../deps.ts'

type Paging = Pick<QueryOptions, 'limit' | 'after'>

/** The conversations that an agent takes part in, the latest spoken in first. */
export const listConversations = async (
  { table }: Pick<Deps, 'table'>,
  installationId: string,
  options: Paging,
): Promise<Page<Conversation>> => {
  const page = await table.listed(ConversationEntity, `${installationId}#CONVERSATIONS`, options)
  // The index may lag behind the record, which another agent may have by now.
  return { ...page, items: page.items.filter(({ installation_id }) => installation_id === installationId) }
}

/** @throws `not_found` also for one that another agent takes part in */
export const conversationOf = async (
  { table }: Pick<Deps, 'table'>,
  { id, workspace_id }: Pick<Installation, 'id' | 'workspace_id'>,
  conversationId: string,
): Promise<Conversation> => {
  const conversation = await table.get(ConversationEntity, { workspace_id, id: conversationId })
  if (conversation?.installation_id !== id) throw fail('not_found', { message: 'There is no such conversation.' })
  return conversation
}

/** A conversation's messages, newest first. */
export const listMessages = async (
  { table }: Pick<Deps, 'table'>,
  conversationId: string,
  options: Paging,
): Promise<Page<Message>> =>
  fittingPage(
    await table.query(MessageEntity, { conversation_id: conversationId }, options),
    ({ text }) => textBytes(text),
    (message) => MessageEntity.key(message).sk,
  )
