import { type App, AppEntity } from '../../entities/apps.ts'
import { type Conversation, ConversationEntity, PersonChatEntity } from '../../entities/conversations.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import { AssignedTaskEntity, type Task, TaskEntity } from '../../entities/tasks.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import type { Deps, Work } from '../deps.ts'
import { identityIn, identityRef } from '../orchestrator/identity.ts'
import { primaryAgent } from './answerer.ts'
import { agentChatId, installationIn, mainChat, type Speaker } from './chats.ts'
import type { AnsweredBy } from './schemas.ts'

export const LISTED_KINDS = ['main', 'agent', 'task'] as const

export interface Filter {
  kind?: (typeof LISTED_KINDS)[number] | undefined
  installation_id?: string | undefined
}

export interface ListedConversation {
  conversation: Conversation
  answered_by: AnsweredBy
}

type Reading = Pick<Deps, 'table'>
type Paging = Pick<QueryOptions, 'limit' | 'after'>

/** Sort keys of tasks begin so, in both of their lists; before the first of them, read downwards. */
const TASKS = 'TASK#'
const BEFORE_TASKS = `${TASKS}~`

/**
 * A person's conversations: the main chat, then those with agents, then the workspace's tasks, each the newest first. One
 * query for each of the two lists, however long they are.
 * @throws `not_found` for an `installation_id` that is not of this workspace
 */
export const listForPerson = async (
  work: Work,
  speaker: Speaker,
  filter: Filter,
  options: Paging,
): Promise<Page<ListedConversation>> => {
  const { kind, installation_id } = filter
  if (installation_id !== undefined) await installationIn(work, speaker.workspace, installation_id)
  const inTasks = options.after?.startsWith(TASKS) ?? false
  const page =
    kind === 'task' || inTasks
      ? await tasks(work, speaker, installation_id, options)
      : await chatsAndTasks(work, speaker, filter, options)
  return { ...page, items: await withAnswerers(work, speaker, page.items) }
}

const chatsAndTasks = async (
  work: Work,
  speaker: Speaker,
  { kind, installation_id }: Filter,
  options: Paging,
): Promise<Page<Conversation>> => {
  const chats = await (installation_id === undefined
    ? ownChats(work, speaker, kind, options)
    : chatsWith(work, speaker, kind, installation_id))
  if (chats.next !== undefined || kind !== undefined) return chats
  const room = options.limit - chats.items.length
  const rest = await tasks(work, speaker, installation_id, { limit: Math.max(room, 1), after: BEFORE_TASKS })
  if (room > 0) return { items: [...chats.items, ...rest.items], next: rest.next }
  return { items: chats.items, next: rest.items.length > 0 ? BEFORE_TASKS : undefined }
}

/** The person's own chats; the main one comes to be when it is first looked at. */
const ownChats = async (
  work: Work,
  speaker: Speaker,
  kind: Filter['kind'],
  options: Paging,
): Promise<Page<Conversation>> => {
  const { workspace, user } = speaker
  const main = options.after === undefined ? await mainChat(work, speaker) : undefined
  if (kind === 'main') return { items: main ? [main] : [], next: undefined }
  const within = (place: string) => PersonChatEntity.key({ workspace_id: workspace.id, user_id: user.id, place }).sk
  const page = await work.table.query(
    PersonChatEntity,
    { workspace_id: workspace.id },
    { ...options, from: within('0'), to: within('~') },
  )
  const conversations = await conversationsOf(
    work,
    workspace.id,
    page.items.map(({ conversation_id }) => conversation_id),
  )
  return { items: conversations.filter((one) => kind === undefined || one.kind === kind), next: page.next }
}

/** Those of the person's chats in which an agent takes part now: at most two. */
const chatsWith = async (
  work: Work,
  speaker: Speaker,
  kind: Filter['kind'],
  installationId: string,
): Promise<Page<Conversation>> => {
  const { workspace } = speaker
  const [main, agent] = await Promise.all([
    workspace.primary_installation_id === installationId ? [await mainChat(work, speaker)] : [],
    conversationsOf(work, workspace.id, [agentChatId(speaker, installationId)]),
  ])
  return { items: [...main, ...agent].filter((one) => kind === undefined || one.kind === kind), next: undefined }
}

const tasks = async (
  work: Work,
  { workspace }: Speaker,
  installationId: string | undefined,
  options: Paging,
): Promise<Page<Conversation>> => {
  const page =
    installationId === undefined
      ? await work.table.query(TaskEntity, { workspace_id: workspace.id }, options)
      : await assignedTo(work, workspace.id, installationId, options)
  const ids = page.items.map(({ conversation_id }) => conversation_id)
  return { items: await conversationsOf(work, workspace.id, ids), next: page.next }
}

const assignedTo = async (
  { table }: Reading,
  workspace_id: string,
  installation_id: string,
  options: Paging,
): Promise<Page<Task>> => {
  const page = await table.query(AssignedTaskEntity, { installation_id }, options)
  const found = (await table.getAll(
    page.items.map(({ task_id }) => ({ entity: TaskEntity, key: TaskEntity.key({ workspace_id, id: task_id }) })),
  )) as (Task | undefined)[]
  const assigned = found.filter((task) => task?.assignee?.installation_id === installation_id)
  return { items: assigned as Task[], next: page.next }
}

const conversationsOf = async (
  { table }: Reading,
  workspace_id: string,
  ids: readonly string[],
): Promise<Conversation[]> => {
  const found = (await table.getAll(
    ids.map((id) => ({ entity: ConversationEntity, key: ConversationEntity.key({ workspace_id, id }) })),
  )) as (Conversation | undefined)[]
  return found.filter((one) => one !== undefined)
}

/** Says who answers in each. Three reads, however many conversations. */
export const withAnswerers = async (
  work: Reading,
  { workspace }: Speaker,
  conversations: readonly Conversation[],
): Promise<ListedConversation[]> => {
  const hasMain = conversations.some(({ kind }) => kind === 'main')
  const primary = hasMain ? await primaryAgent(work, workspace) : undefined
  const answerer = ({ kind, installation_id }: Conversation) => (kind === 'main' ? primary?.id : installation_id)
  const ids = [...new Set(conversations.map(answerer))].filter((id) => id !== undefined)
  const installations = (await work.table.getAll(
    ids.map((id) => ({
      entity: InstallationEntity,
      key: InstallationEntity.key({ workspace_id: workspace.id, id }),
    })),
  )) as (Installation | undefined)[]
  const [identity, ...apps] = await work.table.getAll([
    identityRef,
    ...installations.map((one) => ({ entity: AppEntity, key: AppEntity.key({ id: one?.app_id ?? '-' }) })),
  ])
  const who = identityIn(identity as Parameters<typeof identityIn>[0])
  const agents = new Map<string, AnsweredBy>(
    ids.map((id, i) => [
      id,
      {
        type: 'agent',
        installation_id: id,
        name: installations[i]?.app_name ?? '',
        logo_url: (apps[i] as App | undefined)?.logo_url ?? null,
      },
    ]),
  )
  const orchestrator: AnsweredBy = {
    type: 'orchestrator',
    installation_id: null,
    name: who.name,
    logo_url: who.logo_url ?? null,
  }
  return conversations.map((conversation) => {
    const id = answerer(conversation)
    if (id !== undefined) return { conversation, answered_by: agents.get(id) ?? null }
    return { conversation, answered_by: conversation.kind === 'main' ? orchestrator : null }
  })
}
