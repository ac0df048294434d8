import { InstallationEntity } from '#shared/access/installations/index.ts'
import { identityFrom, identityRef } from '#shared/access/orchestrator/index.ts'
import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import { logoPath, platformLogoPath } from '#shared/catalogue/logos/index.ts'
import { type Deps, isVisibleTo, type Work } from '#shared/foundation/work/index.ts'
import { forEachConcurrently } from '#shared/kernel/for-each-concurrently.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import {
  type Conversation,
  ConversationEntity,
  type Message,
  PersonChatEntity,
  ReadMarkEntity,
} from '../conversations/entity.ts'
import { findRecentMessage } from '../conversations/read.ts'
import type { AnsweredBy } from '../conversations/schemas.ts'
import { AssignedTaskEntity, type Task, TaskEntity } from '../tasks/entity.ts'
import { loadPrimaryAgent } from './answerer.ts'
import { loadInstallation, openMainChat, type Speaker } from './chats.ts'

export const LISTED_KINDS = ['main', 'agent', 'task'] as const

export interface Filter {
  kind?: (typeof LISTED_KINDS)[number] | undefined
  installation_id?: string | undefined
  q?: string | undefined
}

export interface ListedConversation {
  conversation: Conversation
  answered_by: AnsweredBy
  unread: boolean
  /** The latest message that matches the search. */
  match?: Message | undefined
}

type Reading = Pick<Deps, 'table'>

type Paging = Pick<QueryOptions, 'limit' | 'after'>

/** Prefix of the sort keys of tasks in both of their lists, and a cursor before the first task in descending order. */
const TASKS = 'TASK#'
const BEFORE_TASKS = `${TASKS}~`

/**
 * Lists a person's conversations: the main chat, then those with agents, then the tasks that they may see, each newest first.
 * One query for each of the two lists, regardless of their length. A search adds one for each conversation on the page.
 * @throws `not_found` for an `installation_id` of another workspace
 */
export const listConversationsForPerson = async (
  work: Work,
  speaker: Speaker,
  filter: Filter,
  paging: Paging,
): Promise<Page<ListedConversation>> => {
  const options = filter.q === undefined ? paging : { ...paging, limit: Math.min(paging.limit, MOST_SEARCHED) }
  const { kind, installation_id, q } = filter
  if (installation_id !== undefined) await loadInstallation(work, speaker.workspace, installation_id)
  const inTasks = options.after?.startsWith(TASKS) ?? false
  const page =
    kind === 'task' || inTasks
      ? await listTasks(work, speaker, installation_id, options)
      : await listChatsAndTasks(work, speaker, filter, options)
  if (q === undefined) return { ...page, items: await addAnswerers(work, speaker, page.items) }
  const matches = await findMatches(work, page.items, q)
  const listed = await addAnswerers(
    work,
    speaker,
    page.items.filter(({ id }) => matches.has(id)),
  )
  return { ...page, items: listed.map((one) => ({ ...one, match: matches.get(one.conversation.id) })) }
}

/** Conversations that one search looks into, and at once. */
const MOST_SEARCHED = 50
const SEARCHED_AT_ONCE = 10

/** Finds the latest matching message of each conversation. The conversations are those that the person may read. */
const findMatches = async (
  work: Work,
  conversations: readonly Conversation[],
  q: string,
): Promise<Map<string, Message>> => {
  const found = new Map<string, Message>()
  const failed = await forEachConcurrently(conversations, SEARCHED_AT_ONCE, async ({ id }) => {
    const message = await findRecentMessage(work, id, q)
    if (message) found.set(id, message)
  })
  for (const error of failed.values()) throw error
  return found
}

const listChatsAndTasks = async (
  work: Work,
  speaker: Speaker,
  filter: Filter,
  options: Paging,
): Promise<Page<Conversation>> => {
  const { kind, installation_id } = filter
  const chats = await listOwnChats(work, speaker, filter, options)
  if (chats.next !== undefined || kind !== undefined) return chats
  const room = options.limit - chats.items.length
  const rest = await listTasks(work, speaker, installation_id, { limit: Math.max(room, 1), after: BEFORE_TASKS })
  if (room > 0) return { items: [...chats.items, ...rest.items], next: rest.next }
  return { items: chats.items, next: rest.items.length > 0 ? BEFORE_TASKS : undefined }
}

/** Lists the person's own chats. Creates the main chat on the first read. */
const listOwnChats = async (
  work: Work,
  speaker: Speaker,
  { kind, installation_id }: Filter,
  options: Paging,
): Promise<Page<Conversation>> => {
  const { workspace, user } = speaker
  const isListed = (chat: Conversation): boolean => {
    if (kind !== undefined && chat.kind !== kind) return false
    if (installation_id === undefined) return true
    const answerer = chat.kind === 'main' ? workspace.primary_installation_id : chat.installation_id
    return answerer === installation_id
  }
  const main = options.after === undefined ? await openMainChat(work, speaker) : undefined
  if (kind === 'main') return { items: main && isListed(main) ? [main] : [], next: undefined }
  const within = (place: string) => PersonChatEntity.key({ workspace_id: workspace.id, user_id: user.id, place }).sk
  const page = await work.table.query(
    PersonChatEntity,
    { workspace_id: workspace.id },
    { ...options, from: within('0'), to: within('~') },
  )
  const conversations = await loadConversations(
    work,
    workspace.id,
    page.items.map(({ conversation_id }) => conversation_id),
  )
  return { items: conversations.filter(isListed), next: page.next }
}

const listTasks = async (
  work: Work,
  { workspace, user }: Speaker,
  installationId: string | undefined,
  options: Paging,
): Promise<Page<Conversation>> => {
  const page =
    installationId === undefined
      ? await work.table.query(TaskEntity, { workspace_id: workspace.id }, options)
      : await listAssigned(work, workspace.id, installationId, options)
  const ids = page.items.filter((task) => isVisibleTo(user.id, task)).map(({ conversation_id }) => conversation_id)
  return { items: await loadConversations(work, workspace.id, ids), next: page.next }
}

const listAssigned = async (
  { table }: Reading,
  workspace_id: string,
  installation_id: string,
  options: Paging,
): Promise<Page<Task>> => {
  const page = await table.query(AssignedTaskEntity, { installation_id }, options)
  const found = await table.getAll(page.items.map(({ task_id }) => TaskEntity.ref({ workspace_id, id: task_id })))
  const assigned = found.filter((task) => task?.assignee?.installation_id === installation_id)
  return { items: assigned as Task[], next: page.next }
}

const loadConversations = async (
  { table }: Reading,
  workspace_id: string,
  ids: readonly string[],
): Promise<Conversation[]> => {
  const found = (await table.getAll(ids.map((id) => ConversationEntity.ref({ workspace_id, id })))) as (
    | Conversation
    | undefined
  )[]
  return found.filter((conversation) => conversation !== undefined)
}

/** Adds to each conversation who answers it, and whether it is unread, in four reads for any number of conversations. */
export const addAnswerers = async (
  work: Reading,
  { workspace, user }: Speaker,
  conversations: readonly Conversation[],
): Promise<ListedConversation[]> => {
  const hasMain = conversations.some(({ kind }) => kind === 'main')
  const primary = hasMain ? await loadPrimaryAgent(work, workspace) : undefined
  const answerer = ({ kind, installation_id }: Conversation) => (kind === 'main' ? primary?.id : installation_id)
  const ids = [...new Set(conversations.map(answerer))].filter((id) => id !== undefined)
  const [installations, marks] = await Promise.all([
    work.table.getAll(ids.map((id) => InstallationEntity.ref({ workspace_id: workspace.id, id }))),
    work.table.getAll(
      conversations.map(({ id }) =>
        ReadMarkEntity.ref({ workspace_id: workspace.id, user_id: user.id, conversation_id: id }),
      ),
    ),
  ])
  const [identity, ...apps] = await work.table.getAll([
    identityRef,
    ...installations.map((installation) => AppEntity.ref({ id: installation?.app_id ?? '-' })),
  ])
  const orchestratorIdentity = identityFrom(identity as Parameters<typeof identityFrom>[0])
  const agents = new Map<string, AnsweredBy>(
    ids.map((id, i) => [
      id,
      {
        type: 'agent',
        installation_id: id,
        name: installations[i]?.app_name ?? '',
        logo_url: (apps[i] as App | undefined)?.logo_url ?? null,
        logo_path: logoPath((apps[i] as App | undefined) ?? { id, name: installations[i]?.app_name ?? '' }),
      },
    ]),
  )
  const orchestrator: AnsweredBy = {
    type: 'orchestrator',
    installation_id: null,
    name: orchestratorIdentity.name,
    logo_url: orchestratorIdentity.logo_url ?? null,
    logo_path: platformLogoPath(orchestratorIdentity),
  }
  return conversations.map((conversation, i) => {
    const id = answerer(conversation)
    const unread = isUnread(conversation, user.id, marks[i]?.message_id)
    if (id !== undefined) return { conversation, answered_by: agents.get(id) ?? null, unread }
    return { conversation, answered_by: conversation.kind === 'main' ? orchestrator : null, unread }
  })
}

/** @param read latest message that the person has seen; undefined if they never opened the conversation */
const isUnread = (
  { kind, last_message_id, last_author }: Conversation,
  userId: string,
  read: string | undefined,
): boolean => {
  if (last_message_id === undefined || last_author?.id === userId) return false
  // Everyone sees the conversations of all tasks, but follows few of them.
  return read === undefined ? kind !== 'task' : read !== last_message_id
}
