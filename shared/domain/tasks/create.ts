import type { Installation } from '../../entities/installations.ts'
import { AssignedTaskEntity, type Task, TaskEntity } from '../../entities/tasks.ts'
import type { Write } from '../../table/entity.ts'
import { newConversation } from '../conversations/new.ts'
import type { Work } from '../deps.ts'
import { tellAssigned } from './tell.ts'

export type Assignable = Pick<Installation, 'id' | 'app_slug' | 'app_name'>

export interface NewTask
  extends Pick<
    Task,
    'workspace_id' | 'title' | 'description' | 'audience' | 'created_by' | 'delegated_by' | 'actor' | 'chain_depth'
  > {
  /** Whose task it is to be. */
  assignee?: Assignable | undefined
  /** The run inside which an agent makes it. */
  parent_run_id?: string | undefined
}

export const assigneeOf = ({ id, app_slug, app_name }: Assignable): NonNullable<Task['assignee']> => ({
  installation_id: id,
  slug: app_slug,
  name: app_name,
})

/** The entry in an agent's list of tasks. */
export const assignment = (task: Task, { installation_id }: NonNullable<Task['assignee']>) => ({
  installation_id,
  task_id: task.id,
  workspace_id: task.workspace_id,
})

/**
 * A new task and all that belongs to it, for one transaction: the record, its conversation, its place in its agent's list,
 * and the event `task.created`. It begins in `todo`, and no run of it is started: that is `handTask`.
 */
export const newTask = (work: Work, { assignee: agent, ...fields }: NewTask): { task: Task; writes: Write[] } => {
  const id = work.id('task')
  const now = work.clock.now()
  const assignee = agent && assigneeOf(agent)
  const { conversation, writes } = newConversation(work, {
    workspace_id: fields.workspace_id,
    kind: 'task',
    title: fields.title,
    installation_id: agent?.id,
    task_id: id,
  })
  const task: Task = {
    ...fields,
    id,
    status: 'todo',
    assignee,
    conversation_id: conversation.id,
    revision: 0,
    created_at: now,
    updated_at: now,
  }
  return {
    task,
    writes: [
      TaskEntity.create(task),
      ...writes,
      ...(assignee ? [AssignedTaskEntity.create(assignment(task, assignee))] : []),
      ...tellAssigned(work, task),
    ],
  }
}
