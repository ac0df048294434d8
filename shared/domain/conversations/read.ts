import { type Conversation, ConversationEntity, type Message, MessageEntity } from '../../entities/conversations.ts'
import type { Installation } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { idFloor } from '../../kernel/ids.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { fittingPage, textBytes } from '../answer-size.ts'
import type { Deps } from '../deps.ts'
import { shownToPerson } from './shown-to-person.ts'

type Paging = Pick<QueryOptions, 'limit' | 'after'>

/** An agent, and the organization that says which one answers the main chats. */
export interface Reader {
  installation: Pick<Installation, 'id' | 'workspace_id'>
  workspace: Pick<Workspace, 'primary_installation_id'>
  /** The person who looks through the agent's page: what is another's alone does not exist for them. */
  viewer?: string | undefined
}

/**
 * Does this agent take part now? A main chat is the primary agent’s for as long as it is that, also where its person has
 * not written since.
 */
const takesPart = ({ installation, workspace }: Reader, conversation: Conversation): boolean =>
  conversation.installation_id === installation.id &&
  (conversation.kind !== 'main' || workspace.primary_installation_id === installation.id)

/** Of conversations those that the reader may see. */
const readable = async (
  deps: Pick<Deps, 'table'>,
  reader: Reader,
  conversations: readonly Conversation[],
): Promise<Conversation[]> => {
  const theirs = conversations.filter((conversation) => takesPart(reader, conversation))
  const { viewer, installation } = reader
  return viewer === undefined ? theirs : shownToPerson(deps, installation.workspace_id, viewer, theirs)
}

/** The conversations that an agent takes part in, the latest spoken in first. */
export const listConversations = async (
  deps: Pick<Deps, 'table'>,
  reader: Reader,
  options: Paging,
): Promise<Page<Conversation>> => {
  const page = await deps.table.listed(ConversationEntity, `${reader.installation.id}#CONVERSATIONS`, options)
  // The index may lag behind the record, which another agent may have by now.
  return { ...page, items: await readable(deps, reader, page.items) }
}

/** @throws `not_found` also for one that another agent takes part in, and for one that the viewer does not see */
export const conversationOf = async (
  deps: Pick<Deps, 'table'>,
  reader: Reader,
  conversationId: string,
): Promise<Conversation> => {
  const { workspace_id } = reader.installation
  const found = await deps.table.get(ConversationEntity, { workspace_id, id: conversationId })
  const [conversation] = await readable(deps, reader, found ? [found] : [])
  if (!conversation) throw noConversation()
  return conversation
}

export const noConversation = () => fail('not_found', { message: 'There is no such conversation.' })

/** The sort key from which on the agent that takes part may read; undefined for everything. */
export const readableFrom = ({
  id,
  installation_since,
}: Pick<Conversation, 'id' | 'installation_since'>): string | undefined =>
  installation_since === undefined
    ? undefined
    : MessageEntity.key({ conversation_id: id, id: idFloor('message', installation_since) }).sk

/** A conversation's messages, newest first. */
export const listMessages = async (
  { table }: Pick<Deps, 'table'>,
  conversationId: string,
  options: Paging & Pick<QueryOptions, 'from'>,
): Promise<Page<Message>> =>
  fittingPage(
    await table.query(MessageEntity, { conversation_id: conversationId }, options),
    ({ text }) => textBytes(text),
    (message) => MessageEntity.key(message).sk,
  )

/** The same for the agent that takes part. */
export const listMessagesAsAgent = (
  deps: Pick<Deps, 'table'>,
  conversation: Pick<Conversation, 'id' | 'installation_since'>,
  options: Paging,
): Promise<Page<Message>> => {
  const from = readableFrom(conversation)
  return listMessages(deps, conversation.id, { ...options, ...(from !== undefined && { from }) })
}
