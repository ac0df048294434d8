import type { Installation } from '#shared/access/installations/index.ts'
import { cutPageToResponseSize, payloadBytes, textBytes } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { MessageEntity } from '../conversations/entity.ts'
import { presentMessage } from '../conversations/schemas.ts'
import { loadTask, taskNotFound } from './change.ts'
import { AssignedTaskEntity, type Task, TaskEntity, tasksByStatus } from './entity.ts'
import { presentTask } from './present.ts'
import type { TaskWithConversationView } from './schemas.ts'
import type { TaskStatus } from './status.ts'

type Reading = Pick<Deps, 'table' | 'objects'>

type Paging = Pick<QueryOptions, 'limit' | 'after'>

type Agent = Pick<Installation, 'id' | 'workspace_id'>

/** Number of latest messages in the response for one task. */
const MESSAGES = 50

/** Loads an agent's own task. @throws `not_found` also for another agent's task */
export const loadOwnTask = async (
  deps: Pick<Deps, 'table'>,
  { id, workspace_id }: Agent,
  taskId: string,
): Promise<Task> => {
  const task = await loadTask(deps, { workspace_id, id: taskId })
  if (task.assignee?.installation_id !== id) throw taskNotFound()
  return task
}

/** Loads a task that an agent may read: its own, or one that it delegated. @throws `not_found` */
export const readTaskAsAgent = async (
  deps: Reading,
  { id, workspace_id }: Agent,
  taskId: string,
): Promise<TaskWithConversationView> => {
  const task = await loadTask(deps, { workspace_id, id: taskId })
  if (task.assignee?.installation_id !== id && task.delegated_by?.installation_id !== id) throw taskNotFound()
  return withConversation(deps, task)
}

/** Loads a task for the people of its workspace. @throws `not_found` */
export const readTaskForWorkspace = async (
  deps: Reading,
  workspaceId: string,
  taskId: string,
): Promise<TaskWithConversationView> =>
  withConversation(deps, await loadTask(deps, { workspace_id: workspaceId, id: taskId }))

const withConversation = async (deps: Reading, task: Task): Promise<TaskWithConversationView> => {
  const { conversation_id } = task
  const [view, { items }] = await Promise.all([
    presentTask(deps, task),
    deps.table.query(MessageEntity, { conversation_id }, { limit: MESSAGES }),
  ])
  return { ...view, conversation: { id: conversation_id, messages: items.map(presentMessage).reverse() } }
}

const taskBytes = ({ description, result }: Task): number =>
  textBytes(description) + textBytes(result?.text ?? '') + payloadBytes(result?.output)

/** Lists an agent's tasks, newest first. With a status, it reads the index of that status. */
export const listTasks = async (
  { table }: Pick<Deps, 'table'>,
  installationId: string,
  status: TaskStatus | undefined,
  options: Paging,
): Promise<Page<Task>> => {
  const isOwn = (task: Task | undefined): task is Task => task?.assignee?.installation_id === installationId
  if (status !== undefined) {
    const page = await table.listed(TaskEntity, tasksByStatus(installationId, status), options)
    const fitting = cutPageToResponseSize(page, taskBytes, ({ id }) => id)
    // The index may lag behind the record.
    return { ...fitting, items: fitting.items.filter((task) => task.status === status && isOwn(task)) }
  }
  const page = await table.query(AssignedTaskEntity, { installation_id: installationId }, options)
  const tasks = await table.getAll(
    page.items.map(({ workspace_id, task_id }) => TaskEntity.ref({ workspace_id, id: task_id })),
  )
  return cutPageToResponseSize(
    { items: tasks.filter(isOwn), next: page.next },
    taskBytes,
    ({ id }) => AssignedTaskEntity.key({ installation_id: installationId, task_id: id }).sk,
  )
}

/** Lists a workspace's tasks, newest first. */
export const listTasksForWorkspace = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  options: Paging,
): Promise<Page<Task>> =>
  cutPageToResponseSize(
    await table.query(TaskEntity, { workspace_id: workspaceId }, options),
    taskBytes,
    (task) => TaskEntity.key(task).sk,
  )
