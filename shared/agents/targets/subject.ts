import { ORCHESTRATOR_APP_ID } from '#shared/access/orchestrator/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import {
  type Conversation,
  ConversationEntity,
  type Message,
  MessageEntity,
  readableFrom,
} from '#shared/work/conversations/index.ts'
import type { Run } from '#shared/work/runs/index.ts'
import { type Task, TaskEntity } from '#shared/work/tasks/index.ts'

/**
 * Maximum number of messages included, and of their characters in total. Older messages are available through the API.
 */
const MESSAGES = 50
const CHARACTERS = 64_000
type About = Pick<
  Run,
  'app_id' | 'workspace_id' | 'installation_id' | 'task_id' | 'conversation_id' | 'message_id' | 'private_to'
>

/**
 * Builds the subject of a run as its agent sees it (contract/runs.md#execute-request): the task, and the conversation
 * with its latest messages. The agent doesn't see a task or conversation that was reassigned since the run started, or
 * messages from a main conversation before it was chosen.
 */
export const loadSubject = async (
  { table }: Pick<Deps, 'table'>,
  run: About,
): Promise<{ task?: object; conversation?: object }> => {
  const { workspace_id, installation_id, task_id, conversation_id } = run
  const task = task_id === undefined ? undefined : await table.get(TaskEntity, { workspace_id, id: task_id })
  const id = conversation_id ?? task?.conversation_id
  if (id === undefined) return {}
  const conversation = await table.get(ConversationEntity, { workspace_id, id })
  const inIt = conversation && takesPart(run, conversation) ? conversation : undefined
  const from = inIt && run.app_id !== ORCHESTRATOR_APP_ID ? readableFrom(inIt) : undefined
  const items = inIt ? await listTurnMessages(table, run, id, from) : []
  return {
    ...(task?.assignee?.installation_id === installation_id && { task: taskView(task) }),
    ...(inIt && { conversation: conversationView(inIt, items, run) }),
  }
}

/** Maximum number of pages searched for messages that arrived while a person's message waited for its turn. */
const PAGES = 5

/**
 * Lists the latest messages of a conversation, newest first. For a conversation with a person, these are the message to
 * answer, earlier messages, and later ones by others. The person's own messages that still wait for their turn are left
 * out.
 * @param from sort key of the first message that the agent may read
 */
const listTurnMessages = async (
  table: Deps['table'],
  { message_id }: About,
  conversation_id: string,
  from: string | undefined,
): Promise<Message[]> => {
  const latest = { limit: MESSAGES, ...(from !== undefined && { from }) }
  if (message_id === undefined) return (await table.query(MessageEntity, { conversation_id }, latest)).items
  const asked = MessageEntity.key({ conversation_id, id: message_id }).sk
  const [since, { items }] = await Promise.all([
    listRepliesSince(table, conversation_id, asked),
    table.query(MessageEntity, { conversation_id }, { ...latest, to: asked }),
  ])
  return [...since, ...items].slice(0, MESSAGES)
}

/** Lists messages by others after the given message, newest first, leaving room for that message itself. */
const listRepliesSince = async (table: Deps['table'], conversation_id: string, from: string): Promise<Message[]> => {
  const messages: Message[] = []
  let after: string | undefined
  for (let page = 0; page < PAGES; page++) {
    const { items, next } = await table.query(MessageEntity, { conversation_id }, { limit: 2 * MESSAGES, from, after })
    messages.push(...items.filter(({ author }) => author.type !== 'user'))
    after = next
    if (after === undefined || messages.length >= MESSAGES) break
  }
  return messages.slice(0, MESSAGES - 1)
}

/**
 * The orchestrator answers people in their own main conversation, even if another agent has since been chosen for it.
 */
const takesPart = ({ app_id, installation_id, private_to }: About, conversation: Conversation): boolean =>
  conversation.installation_id === installation_id ||
  (app_id === ORCHESTRATOR_APP_ID && conversation.kind === 'main' && conversation.user_id === private_to)

const taskView = ({ id, title, description, status, audience, conversation_id, created_by, chain_depth }: Task) => ({
  id,
  title,
  description,
  status,
  audience,
  conversation_id,
  created_by,
  chain_depth,
})

/** Presents the messages oldest first, and the message to answer if there is one. @param latest newest first */
const conversationView = (
  { id, kind, title }: Conversation,
  latest: readonly Message[],
  { installation_id, message_id }: About,
) => {
  let characters = 0
  const fitting = latest.filter(({ id: messageId, text }) => {
    characters += text.length
    return characters <= CHARACTERS || messageId === message_id
  })
  const asked = latest.find((message) => message.id === message_id)
  return {
    id,
    kind,
    title,
    messages: fitting.map((message) => messageView(message, installation_id)).reverse(),
    ...(asked && { message: messageView(asked, installation_id) }),
  }
}

/** Messages by other agents or external contacts are untrusted. */
const messageView = ({ id, author, text, attachments, created_at }: Message, installation_id: string) => ({
  id,
  author,
  text,
  ...(attachments.length > 0 && { attachments }),
  ...((author.type === 'contact' || (author.type === 'agent' && author.id !== installation_id)) && { untrusted: true }),
  created_at: iso(created_at),
})
