import { type Deps, isVisibleTo } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Task, TaskEntity } from './entity.ts'

/** Key of a task. */
export interface TaskKey {
  workspace_id: string
  id: string
}

export const taskNotFound = (): PlatformError => fail('not_found', { message: 'Task not found.' })

/** Loads a task. @throws `not_found` also for another workspace's task, because the key contains the workspace's id */
export const loadTask = async ({ table }: Pick<Deps, 'table'>, key: TaskKey): Promise<Task> => {
  const task = await table.get(TaskEntity, key)
  if (!task) throw taskNotFound()
  return task
}

/** Loads a task for a person. @throws `not_found` also for a task that another person's private conversation caused */
export const loadTaskAsPerson = async (deps: Pick<Deps, 'table'>, key: TaskKey, personId: string): Promise<Task> => {
  const task = await loadTask(deps, key)
  if (!isVisibleTo(personId, task)) throw taskNotFound()
  return task
}

/** Fields to change. Undefined removes a field. */
export type TaskChanges = { [K in keyof Task]?: Task[K] | undefined }

/** Returns the task after the changes. Every change raises its revision. A question ends with the status `discuss`. */
export const changedTask = ({ clock }: Pick<Deps, 'clock'>, task: Task, changes: TaskChanges): Task => {
  const after = { ...task, ...changes, revision: task.revision + 1, updated_at: clock.now() } as Task
  if (after.status !== 'discuss') delete after.question
  return after
}

/** Write that replaces `before` with `after` unless it changed in the meantime. Also moves the task in its agent's lists. */
export const taskWrite = (before: Task, after: Task): Write =>
  TaskEntity.replace(after, { where: { revision: before.revision } })
