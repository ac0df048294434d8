import { type Conversation, ConversationEntity, type Message, MessageEntity } from '../../entities/conversations.ts'
import type { Run } from '../../entities/runs.ts'
import { type Task, TaskEntity } from '../../entities/tasks.ts'
import { iso } from '../../kernel/clock.ts'
import type { Deps } from '../deps.ts'

/** The latest messages that go along; older ones are read through the API. */
const MESSAGES = 50

/**
 * What a run is about, as its agent is told (decisions §4): its task, and the conversation with its latest messages. What
 * went to another agent since the run was started is not this one's to see any more.
 */
export const subjectOf = async (
  { table }: Pick<Deps, 'table'>,
  {
    workspace_id,
    installation_id,
    task_id,
    conversation_id,
  }: Pick<Run, 'workspace_id' | 'installation_id' | 'task_id' | 'conversation_id'>,
): Promise<{ task?: object; conversation?: object }> => {
  const task = task_id === undefined ? undefined : await table.get(TaskEntity, { workspace_id, id: task_id })
  const id = conversation_id ?? task?.conversation_id
  if (id === undefined) return {}
  const [conversation, messages] = await Promise.all([
    table.get(ConversationEntity, { workspace_id, id }),
    table.query(MessageEntity, { conversation_id: id }, { limit: MESSAGES }),
  ])
  return {
    ...(task?.assignee?.installation_id === installation_id && { task: taskView(task) }),
    ...(conversation?.installation_id === installation_id && {
      conversation: conversationView(conversation, messages.items),
    }),
  }
}

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

/** Oldest first, as one reads it. */
const conversationView = ({ id, kind, title }: Conversation, messages: readonly Message[]) => ({
  id,
  kind,
  title,
  messages: messages
    .map(({ id, author, text, created_at }) => ({ id, author, text, created_at: iso(created_at) }))
    .reverse(),
})
