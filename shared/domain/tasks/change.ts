import { type Task, TaskEntity } from '../../entities/tasks.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { backoff } from '../../table/backoff.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'

/** Where a task is kept. */
export interface TaskKey {
  workspace_id: string
  id: string
}

/** Another writer changed the task between our read and our write. */
export class TaskMoved extends Error {}

export const noSuchTask = (): PlatformError => fail('not_found', { message: 'There is no such task.' })

/** @throws `not_found` also for another workspace's: its key cannot be built from this one's id */
export const loadTask = async ({ table }: Pick<Deps, 'table'>, key: TaskKey): Promise<Task> => {
  const task = await table.get(TaskEntity, key)
  if (!task) throw noSuchTask()
  return task
}

/** The fields that a change may set; undefined takes one away. */
export type TaskChanges = { [K in keyof Task]?: Task[K] | undefined }

/** The task as it is after the changes; every change raises its revision. */
export const changed = ({ clock }: Pick<Deps, 'clock'>, task: Task, changes: TaskChanges): Task =>
  ({ ...task, ...changes, revision: task.revision + 1, updated_at: clock.now() }) as Task

/** The write that makes of `before` what `after` is, if nobody changed it meanwhile; also moves it in its agent's lists. */
export const taskWrite = (before: Task, after: Task): Write =>
  TaskEntity.replace(after, { where: { revision: before.revision }, otherwise: () => new TaskMoved() })

/**
 * Tries again what lost against another change of its task; each attempt begins with what it reads.
 * @throws `conflict` where others keep changing it
 */
export const whileTaskMoves = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof TaskMoved)) throw error
      if (tries >= 9) {
        throw fail('conflict', {
          message: 'Too many requests change this task at the same moment.',
          fix: 'Send the request again.',
          headers: { 'retry-after': '1' },
          cause: error,
        })
      }
      await backoff(tries)
    }
  }
}
