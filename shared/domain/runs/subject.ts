import { type Conversation, ConversationEntity, type Message, MessageEntity } from '../../entities/conversations.ts'
import type { Run } from '../../entities/runs.ts'
import { type Task, TaskEntity } from '../../entities/tasks.ts'
import { iso } from '../../kernel/clock.ts'
import { readableFrom } from '../conversations/read.ts'
import type { Deps } from '../deps.ts'
import { ORCHESTRATOR_APP_ID } from '../orchestrator/principal.ts'

/** The latest messages that go along, and their characters together; older ones are read through the API. */
const MESSAGES = 50
const CHARACTERS = 64_000

type About = Pick<
  Run,
  'app_id' | 'workspace_id' | 'installation_id' | 'task_id' | 'conversation_id' | 'message_id' | 'private_to'
>

/**
 * What a run is about, as its agent is told (decisions §4): its task, and the conversation with its latest messages. What
 * went to another agent since the run was started is not this one's to see any more, nor is what was said in a main chat
 * before it was chosen.
 */
export const subjectOf = async (
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
  const items = inIt ? await turnOf(table, run, id, from) : []
  return {
    ...(task?.assignee?.installation_id === installation_id && { task: taskView(task) }),
    ...(inIt && { conversation: conversationView(inIt, items, run) }),
  }
}

/** Pages that are looked through for what was said while a message of a chat waited for its turn. */
const PAGES = 5

/**
 * The latest messages of a conversation, newest first. Of a chat: the message to answer, what was said before it, and what
 * was answered since; its person's that wait for their turn are not in it yet, however many they are.
 * @param from the sort key from which on the agent may read
 */
const turnOf = async (
  table: Deps['table'],
  { message_id }: About,
  conversation_id: string,
  from: string | undefined,
): Promise<Message[]> => {
  const latest = { limit: MESSAGES, ...(from !== undefined && { from }) }
  if (message_id === undefined) return (await table.query(MessageEntity, { conversation_id }, latest)).items
  const asked = MessageEntity.key({ conversation_id, id: message_id }).sk
  const [since, { items }] = await Promise.all([
    saidSince(table, conversation_id, asked),
    table.query(MessageEntity, { conversation_id }, { ...latest, to: asked }),
  ])
  return [...since, ...items].slice(0, MESSAGES)
}

/** What others than its person said in a chat behind a message, newest first; there is room for that message, too. */
const saidSince = async (table: Deps['table'], conversation_id: string, from: string): Promise<Message[]> => {
  const said: Message[] = []
  let after: string | undefined
  for (let page = 0; page < PAGES; page++) {
    const { items, next } = await table.query(MessageEntity, { conversation_id }, { limit: 2 * MESSAGES, from, after })
    said.push(...items.filter(({ author }) => author.type !== 'user'))
    after = next
    if (after === undefined || said.length >= MESSAGES) break
  }
  return said.slice(0, MESSAGES - 1)
}

/** The orchestrator answers its person in their own main chat, whoever else was chosen for it meanwhile. */
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

/**
 * Oldest first, as one reads it; in a chat also the message to answer.
 * @param latest newest first
 */
const conversationView = (
  { id, kind, title }: Conversation,
  latest: readonly Message[],
  { installation_id, message_id }: About,
) => {
  let characters = 0
  const fitting = latest.filter(({ id: one, text }) => {
    characters += text.length
    return characters <= CHARACTERS || one === message_id
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

/** What another agent, or somebody outside, wrote is a quoted source. */
const messageView = ({ id, author, text, attachments, created_at }: Message, installation_id: string) => ({
  id,
  author,
  text,
  ...(attachments.length > 0 && { attachments }),
  ...((author.type === 'contact' || (author.type === 'agent' && author.id !== installation_id)) && { untrusted: true }),
  created_at: iso(created_at),
})
