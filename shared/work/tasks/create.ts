import type { Installation } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { newConversation } from '../conversations/create.ts'
import { emitTaskCreated } from './emit.ts'
import { AssignedTaskEntity, type Task, TaskEntity } from './entity.ts'

export type Assignable = Pick<Installation, 'id' | 'app_slug' | 'app_name'>

export interface NewTask
  extends Pick<
    Task,
    | 'workspace_id'
    | 'title'
    | 'description'
    | 'audience'
    | 'created_by'
    | 'delegated_by'
    | 'actor'
    | 'private_to'
    | 'chain_depth'
    | 'chain_started_at'
    | 'chain_schedules'
    | 'person'
    | 'priority'
    | 'due_date'
    | 'labels'
    | 'attachments'
  > {
  /** Agent that gets the task. */
  assignee?: Assignable | undefined
  /** Run in which an agent creates it. */
  parent_run_id?: string | undefined
}

export const assigneeOf = ({ id, app_slug, app_name }: Assignable): NonNullable<Task['assignee']> => ({
  installation_id: id,
  slug: app_slug,
  name: app_name,
})

/** Entry in an agent's list of tasks. */
export const assignment = (task: Task, { installation_id }: NonNullable<Task['assignee']>) => ({
  installation_id,
  task_id: task.id,
  workspace_id: task.workspace_id,
})

/**
 * Creates a task and its writes for one transaction: the record, its conversation, its entry in the agent's list, and the
 * event `task.created`. It starts in `todo`, without a run; `handTask` starts one.
 */
export const newTask = (work: Work, { assignee: agent, ...fields }: NewTask): { task: Task; writes: Write[] } => {
  const stamp = stampOf(work.id('task'))
  const assignee = agent && assigneeOf(agent)
  const { conversation, writes } = newConversation(work, {
    workspace_id: fields.workspace_id,
    kind: 'task',
    title: fields.title,
    installation_id: agent?.id,
    task_id: stamp.id,
    user_id: fields.private_to,
  })
  const task: Task = {
    ...fields,
    ...stamp,
    status: 'todo',
    assignee,
    conversation_id: conversation.id,
    revision: 0,
    updated_at: stamp.created_at,
  }
  return {
    task,
    writes: [
      TaskEntity.create(task),
      ...writes,
      ...(assignee ? [AssignedTaskEntity.create(assignment(task, assignee))] : []),
      ...emitTaskCreated(work, task),
    ],
  }
}
