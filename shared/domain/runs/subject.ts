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
  const { items } = inIt
    ? await table.query(
        MessageEntity,
        { conversation_id: id },
        { limit: MESSAGES, ...(from !== undefined && { from }) },
      )
    : { items: [] }
  return {
    ...(task?.assignee?.installation_id === installation_id && { task: taskView(task) }),
    ...(inIt && { conversation: conversationView(inIt, items, run) }),
  }
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
 * Oldest first, as one reads it; in a chat also the message to answer. Those of its person that wait for their turn are not
 * in it yet.
 * @param latest newest first
 */
const conversationView = (
  { id, kind, title }: Conversation,
  latest: readonly Message[],
  { installation_id, message_id }: About,
) => {
  const turn = latest.filter(
    (message) => message_id === undefined || message.author.type !== 'user' || message.id <= message_id,
  )
  let characters = 0
  const fitting = turn.filter(({ id: one, text }) => {
    characters += text.length
    return characters <= CHARACTERS || one === message_id
  })
  const asked = turn.find((message) => message.id === message_id)
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
