import { type Conversation, ConversationEntity, PersonChatEntity } from '../../entities/conversations.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { derivedId, idTime, isId } from '../../kernel/ids.ts'
import { ConditionFailed, type Write } from '../../table/entity.ts'
import type { Deps, Work } from '../deps.ts'
import { orchestratorId } from '../orchestrator/principal.ts'
import { noConversation } from './read.ts'

/** A person in a workspace. */
export interface Speaker {
  workspace: Workspace
  user: { id: string; name: string }
}

/** A person has one main chat in a workspace, and one with each agent: their ids tell that, so that two at once are one. */
const chatId = ({ workspace, user }: Speaker, of: string): string =>
  derivedId('conversation', idTime(user.id), `chat\n${workspace.id}\n${user.id}\n${of}`)

const mainChatId = (speaker: Speaker): string => chatId(speaker, 'main')
export const agentChatId = (speaker: Speaker, installationId: string): string => chatId(speaker, installationId)

/** Sorts before every other place, as a list is read downwards. */
const MAIN_PLACE = 'main'

const made = (conversation: Conversation, user_id: string, place: string): Write[] => [
  ConversationEntity.create(conversation),
  PersonChatEntity.create({
    workspace_id: conversation.workspace_id,
    user_id,
    place,
    conversation_id: conversation.id,
  }),
]

/** The person's main chat; made when they first look. */
export const mainChat = async (work: Work, speaker: Speaker): Promise<Conversation> => {
  const { workspace, user } = speaker
  const id = mainChatId(speaker)
  const known = await work.table.get(ConversationEntity, { workspace_id: workspace.id, id })
  if (known) return known
  const conversation: Conversation = {
    id,
    workspace_id: workspace.id,
    kind: 'main',
    title: 'Main chat',
    installation_id: orchestratorId(workspace.id, user.id),
    user_id: user.id,
    created_at: work.clock.now(),
  }
  return madeOnce(work, conversation, made(conversation, user.id, MAIN_PLACE))
}

/** Of two who make it at once, both get the one that is there. */
const madeOnce = async (work: Work, conversation: Conversation, writes: Write[]): Promise<Conversation> => {
  try {
    await work.table.transact(writes)
    return conversation
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return (await work.table.get(ConversationEntity, conversation)) ?? conversation
  }
}

/**
 * An agent of the workspace, uninstalled or not.
 * @throws `not_found` also for another workspace's
 */
export const installationIn = async (
  { table }: Pick<Deps, 'table'>,
  { id: workspace_id }: Pick<Workspace, 'id'>,
  id: string,
): Promise<Installation> => {
  const installation = isId('installation', id) ? await table.get(InstallationEntity, { workspace_id, id }) : undefined
  if (!installation) throw fail('not_found', { message: 'There is no such installation.' })
  return installation
}

/**
 * The person's chat with an agent; made when it is first opened.
 * @throws `not_found` also for an agent that was uninstalled, unless there is a chat with it
 */
export const agentChat = async (work: Work, speaker: Speaker, installationId: string): Promise<Conversation> => {
  const { workspace, user } = speaker
  const installation = await installationIn(work, workspace, installationId)
  const id = agentChatId(speaker, installation.id)
  const known = await work.table.get(ConversationEntity, { workspace_id: workspace.id, id })
  if (known) return known
  if (installation.status === 'revoked') throw fail('not_found', { message: 'There is no such installation.' })
  const created_at = work.clock.now()
  const conversation: Conversation = {
    id,
    workspace_id: workspace.id,
    kind: 'agent',
    title: installation.app_name,
    installation_id: installation.id,
    user_id: user.id,
    created_at,
  }
  // Downwards, the newest comes first, and all of them after the main chat.
  return madeOnce(work, conversation, made(conversation, user.id, `${String(created_at).padStart(13, '0')}#${id}`))
}

/**
 * A conversation that the person takes part in: their own chats, and the workspace’s tasks.
 * @throws `not_found` for everything else, also for another member's chats
 */
export const conversationFor = async (
  { table }: Pick<Deps, 'table'>,
  { workspace, user }: Speaker,
  id: string,
): Promise<Conversation> => {
  const conversation = await table.get(ConversationEntity, { workspace_id: workspace.id, id })
  const theirs =
    conversation?.kind === 'task' ||
    ((conversation?.kind === 'main' || conversation?.kind === 'agent') && conversation.user_id === user.id)
  if (!conversation || !theirs) throw noConversation()
  return conversation
}
