import { MessageEntity } from '../../entities/conversations.ts'
import type { Installation } from '../../entities/installations.ts'
import { AssignedTaskEntity, type Task, TaskEntity, type TaskStatus, tasksByStatus } from '../../entities/tasks.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { fittingPage, payloadBytes, textBytes } from '../answer-size.ts'
import { presentMessage } from '../conversations/schemas.ts'
import type { Deps } from '../deps.ts'
import { loadTask, noSuchTask } from './change.ts'
import { presentTask } from './present.ts'
import type { TaskWithConversationView } from './schemas.ts'

type Reading = Pick<Deps, 'table' | 'objects'>
type Paging = Pick<QueryOptions, 'limit' | 'after'>
type Agent = Pick<Installation, 'id' | 'workspace_id'>

/** The latest messages that a task is read with. */
const MESSAGES = 50

/** A task that is this agent's own. @throws `not_found` also for another agent's */
export const taskOf = async (deps: Pick<Deps, 'table'>, { id, workspace_id }: Agent, taskId: string): Promise<Task> => {
  const task = await loadTask(deps, { workspace_id, id: taskId })
  if (task.assignee?.installation_id !== id) throw noSuchTask()
  return task
}

/** A task as an agent may read it: its own, or one that it delegated. @throws `not_found` */
export const readAsAgent = async (
  deps: Reading,
  { id, workspace_id }: Agent,
  taskId: string,
): Promise<TaskWithConversationView> => {
  const task = await loadTask(deps, { workspace_id, id: taskId })
  if (task.assignee?.installation_id !== id && task.delegated_by?.installation_id !== id) throw noSuchTask()
  return withConversation(deps, task)
}

/** For the people of its workspace. @throws `not_found` */
export const readForWorkspace = async (
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

/** An agent's tasks, newest first; those of one status from the index that keeps them by status. */
export const listTasks = async (
  { table }: Pick<Deps, 'table'>,
  installationId: string,
  status: TaskStatus | undefined,
  options: Paging,
): Promise<Page<Task>> => {
  const isOwn = (task: Task | undefined): task is Task => task?.assignee?.installation_id === installationId
  if (status !== undefined) {
    const page = await table.listed(TaskEntity, tasksByStatus(installationId, status), options)
    const fitting = fittingPage(page, taskBytes, ({ id }) => id)
    // The index may lag behind the record.
    return { ...fitting, items: fitting.items.filter((task) => task.status === status && isOwn(task)) }
  }
  const page = await table.query(AssignedTaskEntity, { installation_id: installationId }, options)
  const tasks = (await table.getAll(
    page.items.map(({ workspace_id, task_id }) => ({
      entity: TaskEntity,
      key: TaskEntity.key({ workspace_id, id: task_id }),
    })),
  )) as (Task | undefined)[]
  return fittingPage(
    { items: tasks.filter(isOwn), next: page.next },
    taskBytes,
    ({ id }) => AssignedTaskEntity.key({ installation_id: installationId, task_id: id }).sk,
  )
}

/** A workspace's tasks, newest first. */
export const listForWorkspace = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  options: Paging,
): Promise<Page<Task>> =>
  fittingPage(
    await table.query(TaskEntity, { workspace_id: workspaceId }, options),
    taskBytes,
    (task) => TaskEntity.key(task).sk,
  )
