import { type Installation, InstallationEntity, requireChatScopes } from '#shared/access/installations/index.ts'
import { orchestratorId } from '#shared/access/orchestrator/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { derivedId, isId, stampOf } from '#shared/kernel/ids.ts'
import { ConditionFailed, type Write } from '#shared/table/entity.ts'
import {
  type Conversation,
  ConversationEntity,
  MessageEntity,
  PersonChatEntity,
  ReadMarkEntity,
} from '../conversations/entity.ts'
import { conversationNotFound } from '../conversations/read.ts'

/** A person in a workspace. */
export interface Speaker {
  workspace: Workspace
  user: { id: string; name: string }
}

/** Returns the id of a person's main chat or chat with an agent. It is derived, so concurrent creations collide, and has no time. */
const chatId = ({ workspace, user }: Speaker, of: string): string =>
  derivedId('conversation', 0, `chat\n${workspace.id}\n${user.id}\n${of}`)

const mainChatId = (speaker: Speaker): string => chatId(speaker, 'main')

export const agentChatId = (speaker: Speaker, installationId: string): string => chatId(speaker, installationId)

/** Sorts before every other place, because the list is read in descending order. */
const MAIN_PLACE = 'main'

/** Returns a chat's place in its person's list. In descending order the main chat comes first, then the others, newest first. */
export const chatPlace = ({ id, created_at }: Pick<Conversation, 'id' | 'created_at'>): string =>
  `${String(created_at).padStart(13, '0')}#${id}`

const creationWrites = (conversation: Conversation, user_id: string, place: string): Write[] => [
  ConversationEntity.create(conversation),
  PersonChatEntity.create({
    workspace_id: conversation.workspace_id,
    user_id,
    place,
    conversation_id: conversation.id,
  }),
]

/** Returns the person's main chat. Creates it on the first read. */
export const openMainChat = async (work: Work, speaker: Speaker): Promise<Conversation> => {
  const { workspace, user } = speaker
  const id = mainChatId(speaker)
  const known = await work.table.get(ConversationEntity, { workspace_id: workspace.id, id })
  if (known) return known
  const conversation: Conversation = {
    ...stampOf(id, work.clock.now()),
    workspace_id: workspace.id,
    kind: 'main',
    title: 'Main chat',
    installation_id: orchestratorId(workspace.id, user.id),
    user_id: user.id,
  }
  return createOnce(work, conversation, creationWrites(conversation, user.id, MAIN_PLACE))
}

/** Creates a conversation, or returns the one that a concurrent request created. */
const createOnce = async (work: Work, conversation: Conversation, writes: Write[]): Promise<Conversation> => {
  try {
    await work.commit(writes)
    return conversation
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return (await work.table.get(ConversationEntity, conversation)) ?? conversation
  }
}

/**
 * Loads an agent of the workspace, even if it is uninstalled.
 * @throws `not_found` also for another workspace's installation
 */
export const loadInstallation = async (
  { table }: Pick<Deps, 'table'>,
  { id: workspace_id }: Pick<Workspace, 'id'>,
  id: string,
): Promise<Installation> => {
  const installation = isId('installation', id) ? await table.get(InstallationEntity, { workspace_id, id }) : undefined
  if (!installation) throw fail('not_found', { message: 'Installation not found.' })
  return installation
}

/** Prepares a chat with an agent. @throws `not_found` for an uninstalled agent, and `conflict` for one that may not answer */
const agentChat = (work: Work, { workspace, user }: Speaker, installation: Installation, id: string) => {
  if (installation.status === 'revoked') throw fail('not_found', { message: 'Installation not found.' })
  requireChatScopes(installation, workspace)
  const conversation: Conversation = {
    ...stampOf(id, work.clock.now()),
    workspace_id: workspace.id,
    kind: 'agent',
    title: installation.app_name,
    installation_id: installation.id,
    user_id: user.id,
  }
  return { conversation, writes: creationWrites(conversation, user.id, chatPlace(conversation)) }
}

/**
 * Creates a further chat with an agent, with writes for the caller's transaction.
 * @throws `not_found` also for an uninstalled agent, and `conflict` for one that may not answer
 */
export const newAgentChat = async (
  work: Work,
  speaker: Speaker,
  installationId: string,
): Promise<{ conversation: Conversation; writes: Write[] }> =>
  agentChat(work, speaker, await loadInstallation(work, speaker.workspace, installationId), work.id('conversation'))

/**
 * Returns the person's first chat with an agent. Creates it when it is first opened.
 * @throws `not_found` also for an uninstalled agent, and `conflict` for one that may not answer, unless a chat with it exists
 */
export const openAgentChat = async (work: Work, speaker: Speaker, installationId: string): Promise<Conversation> => {
  const { workspace } = speaker
  const installation = await loadInstallation(work, workspace, installationId)
  const id = agentChatId(speaker, installation.id)
  const known = await work.table.get(ConversationEntity, { workspace_id: workspace.id, id })
  if (known) return known
  const { conversation, writes } = agentChat(work, speaker, installation, id)
  return createOnce(work, conversation, writes)
}

/**
 * Loads a conversation that the person takes part in: their own chats, and the workspace's tasks unless another person's private
 * conversation caused them.
 * @throws `not_found` for all others, including other members' chats
 */
export const loadConversationFor = async (
  { table }: Pick<Deps, 'table'>,
  { workspace, user }: Speaker,
  id: string,
): Promise<Conversation> => {
  const conversation = await table.get(ConversationEntity, { workspace_id: workspace.id, id })
  const takesPart =
    (conversation?.kind === 'task' && (conversation.user_id ?? user.id) === user.id) ||
    ((conversation?.kind === 'main' || conversation?.kind === 'agent') && conversation.user_id === user.id)
  if (!conversation || !takesPart) throw conversationNotFound()
  return conversation
}

/** Marks a conversation as read up to one of its messages. @throws `not_found` */
export const markConversationRead = async (
  work: Work,
  speaker: Speaker,
  id: string,
  message_id: string,
): Promise<void> => {
  const { workspace, user } = speaker
  const [{ id: conversation_id }, message] = await Promise.all([
    loadConversationFor(work, speaker, id),
    isId('message', message_id) ? work.table.get(MessageEntity, { conversation_id: id, id: message_id }) : undefined,
  ])
  if (!message) {
    throw fail('not_found', {
      message: 'This conversation has no such message.',
      fix: 'Send the id of a message that `GET /console/conversations/{id}/messages` returned.',
    })
  }
  await work.commit([
    ReadMarkEntity.replace({ workspace_id: workspace.id, user_id: user.id, conversation_id, message_id }),
  ])
}
