import type { Installation } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { newMessage } from '../conversations/create.ts'
import type { Conversation, Message } from '../conversations/entity.ts'
import type { Run } from '../runs/entity.ts'
import type { Task } from './entity.ts'

/** An agent that works on its task. */
export interface TaskAgent {
  installation: Installation
  app: { id: string; name: string }
  /** Run that a callback token is bound to, or that a tool call belongs to. */
  run: Run | undefined
}

/** Builds the task's conversation from the task, without a read. */
const conversationOf = (task: Task): Conversation => ({
  id: task.conversation_id,
  workspace_id: task.workspace_id,
  kind: 'task',
  title: task.title,
  installation_id: task.assignee?.installation_id,
  task_id: task.id,
  user_id: task.private_to,
  created_at: task.created_at,
})

/** Writes of an agent's message about its task. */
export const newAgentMessage = (work: Work, task: Task, { installation, app, run }: TaskAgent, text: string): Write[] =>
  newMessage(work, conversationOf(task), {
    author: { type: 'agent', id: installation.id, name: app.name },
    text,
    run_id: run?.id,
  }).writes

/** Creates a person's message about a task. */
export const newPersonMessage = (
  work: Work,
  task: Task,
  { id, name }: { id: string; name: string },
  text: string,
  attachments: Message['attachments'] = [],
) => newMessage(work, conversationOf(task), { author: { type: 'user', id, name }, text, attachments })
