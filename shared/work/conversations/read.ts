import type { Installation } from '#shared/access/installations/index.ts'
import { cutPageToResponseSize, textBytes } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { folded } from '#shared/kernel/folded.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type Conversation, ConversationEntity, type Message, MessageEntity } from './entity.ts'
import { filterVisibleToPerson } from './visible-to-person.ts'

type Paging = Pick<QueryOptions, 'limit' | 'after'>

/** An agent, and the workspace whose setting names the agent of the main chats. */
export interface Reader {
  installation: Pick<Installation, 'id' | 'workspace_id'>
  workspace: Pick<Workspace, 'primary_installation_id'>
  /** Person who views the agent's page. Conversations that only others may see don't exist for them. */
  viewer?: string | undefined
}

/**
 * Reports whether this agent takes part now. A main chat belongs to the primary agent while it has that role, even if the
 * person hasn't written since.
 */
const takesPart = ({ installation, workspace }: Reader, conversation: Conversation): boolean =>
  conversation.installation_id === installation.id &&
  (conversation.kind !== 'main' || workspace.primary_installation_id === installation.id)

/** Keeps those of the conversations that the reader may see. */
const filterReadable = async (
  deps: Pick<Deps, 'table'>,
  reader: Reader,
  conversations: readonly Conversation[],
): Promise<Conversation[]> => {
  const own = conversations.filter((conversation) => takesPart(reader, conversation))
  const { viewer, installation } = reader
  return viewer === undefined ? own : filterVisibleToPerson(deps, installation.workspace_id, viewer, own)
}

/** Lists the conversations that an agent takes part in, most recently active first. */
export const listConversations = async (
  deps: Pick<Deps, 'table'>,
  reader: Reader,
  options: Paging,
): Promise<Page<Conversation>> => {
  const page = await deps.table.listed(ConversationEntity, `${reader.installation.id}#CONVERSATIONS`, options)
  // The index may lag behind the record, which may already belong to another agent.
  return { ...page, items: await filterReadable(deps, reader, page.items) }
}

/** Loads a conversation. @throws `not_found` also for another agent's, and for one that the viewer may not see */
export const loadConversationAsAgent = async (
  deps: Pick<Deps, 'table'>,
  reader: Reader,
  conversationId: string,
): Promise<Conversation> => {
  const { workspace_id } = reader.installation
  const found = await deps.table.get(ConversationEntity, { workspace_id, id: conversationId })
  const [conversation] = await filterReadable(deps, reader, found ? [found] : [])
  if (!conversation) throw conversationNotFound()
  return conversation
}

export const conversationNotFound = () => fail('not_found', { message: 'Conversation not found.' })

/** Returns the sort key from which the participating agent may read; undefined if it may read everything. */
export const readableFrom = ({
  id,
  installation_since,
}: Pick<Conversation, 'id' | 'installation_since'>): string | undefined =>
  installation_since === undefined
    ? undefined
    : MessageEntity.key({ conversation_id: id, id: idFloor('message', installation_since) }).sk

/** Lists a conversation's messages, newest first. */
export const listMessages = async (
  { table }: Pick<Deps, 'table'>,
  conversationId: string,
  options: Paging & Pick<QueryOptions, 'from'>,
): Promise<Page<Message>> =>
  cutPageToResponseSize(
    await table.query(MessageEntity, { conversation_id: conversationId }, options),
    ({ text }) => textBytes(text),
    (message) => MessageEntity.key(message).sk,
  )

/** Messages that one request with `q` looks through, and the number read at once. */
const LOOKED_AT = 2_000
const STEP = 200

/**
 * Lists those of a conversation's messages that contain all words, newest first. Looks through a bounded number of messages, so
 * a page may be short or empty and still have a next one. Without an index, a message costs nothing extra when it is written.
 */
export const searchMessages = async (
  { table }: Pick<Deps, 'table'>,
  conversationId: string,
  q: string,
  { limit, after }: Paging,
): Promise<Page<Message>> => {
  const matches = matcherOf(q)
  const sk = (message: Message): string => MessageEntity.key(message).sk
  const found: Message[] = []
  let next = after
  for (let looked = 0; looked < LOOKED_AT; looked += STEP) {
    const page = await table.query(MessageEntity, { conversation_id: conversationId }, { limit: STEP, after: next })
    found.push(...page.items.filter(matches))
    next = page.next
    if (found.length >= limit || next === undefined) break
  }
  const items = found.slice(0, limit)
  const last = items.at(-1)
  const page = { items, next: items.length < found.length && last ? sk(last) : next }
  return cutPageToResponseSize(page, ({ text }) => textBytes(text), sk)
}

/** Latest messages of each conversation that a search over conversations looks through. */
const RECENT = 200

/** Finds the latest message of a conversation that contains all words, among its 200 latest. */
export const findRecentMessage = async (
  { table }: Pick<Deps, 'table'>,
  conversationId: string,
  q: string,
): Promise<Message | undefined> => {
  const { items } = await table.query(
    MessageEntity,
    { conversation_id: conversationId },
    { limit: RECENT, consistent: false },
  )
  return items.find(matcherOf(q))
}

/** Returns a test for messages whose text, author or attached files contain all words. */
const matcherOf = (q: string): ((message: Message) => boolean) => {
  const words = folded(q).split(/\s+/).filter(Boolean)
  return ({ text, author, attachments }) => {
    const all = folded([text, author.name, ...attachments.map(({ name }) => name)].join('\n'))
    return words.every((word) => all.includes(word))
  }
}

/** Lists the messages that the participating agent may read. */
export const listMessagesAsAgent = (
  deps: Pick<Deps, 'table'>,
  conversation: Pick<Conversation, 'id' | 'installation_since'>,
  options: Paging,
): Promise<Page<Message>> => {
  const from = readableFrom(conversation)
  return listMessages(deps, conversation.id, { ...options, ...(from !== undefined && { from }) })
}
