import type { Conversation, Message } from '../../entities/conversations.ts'
import type { Installation } from '../../entities/installations.ts'
import type { Run } from '../../entities/runs.ts'
import type { Task } from '../../entities/tasks.ts'
import type { Write } from '../../table/entity.ts'
import { newMessage } from '../conversations/new.ts'
import type { Work } from '../deps.ts'

/** An agent at work on its task. */
export interface TaskAgent {
  installation: Installation
  app: { id: string; name: string }
  /** The run that a callback token is bound to, or that a tool call belongs to. */
  run: Run | undefined
}

/** The task's conversation, as the task tells it: it needs no reading. */
const conversationOf = (task: Task): Conversation => ({
  id: task.conversation_id,
  workspace_id: task.workspace_id,
  kind: 'task',
  title: task.title,
  installation_id: task.assignee?.installation_id,
  task_id: task.id,
  created_at: task.created_at,
})

/** What the agent says about its task, as a message that people see at once. */
export const agentSays = (work: Work, task: Task, { installation, app, run }: TaskAgent, text: string): Write[] =>
  newMessage(work, conversationOf(task), {
    author: { type: 'agent', id: installation.id, name: app.name },
    text,
    run_id: run?.id,
  }).writes

/** What a person says about a task. */
export const personSays = (
  work: Work,
  task: Task,
  { id, name }: { id: string; name: string },
  text: string,
  attachments: Message['attachments'] = [],
) => newMessage(work, conversationOf(task), { author: { type: 'user', id, name }, text, attachments })
