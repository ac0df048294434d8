import type { Installation } from '#shared/access/installations/index.ts'
import { cutPageToResponseSize, payloadBytes, textBytes } from '#shared/foundation/payloads/index.ts'
import { type Deps, isVisibleTo } from '#shared/foundation/work/index.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { MessageEntity } from '../conversations/entity.ts'
import { presentMessage } from '../conversations/schemas.ts'
import { loadTask, loadTaskAsPerson, taskNotFound } from './change.ts'
import { AssignedTaskEntity, type Task, TaskEntity, tasksByStatus } from './entity.ts'
import { presentTask } from './present.ts'
import type { TaskFilter, TaskWithConversationView } from './schemas.ts'
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

/**
 * Loads a task that an agent may read: its own, or one that it delegated.
 * @param viewer person who views the agent's page
 * @throws `not_found`
 */
export const readTaskAsAgent = async (
  deps: Reading,
  { id, workspace_id }: Agent,
  taskId: string,
  viewer?: string,
): Promise<TaskWithConversationView> => {
  const task = await loadTask(deps, { workspace_id, id: taskId })
  if (!isVisibleTo(viewer, task)) throw taskNotFound()
  if (task.assignee?.installation_id !== id && task.delegated_by?.installation_id !== id) throw taskNotFound()
  return withConversation(deps, task)
}

/** Loads a task for a person of its workspace. @throws `not_found` */
export const readTaskAsPerson = async (
  deps: Reading,
  workspaceId: string,
  personId: string,
  taskId: string,
): Promise<TaskWithConversationView> =>
  withConversation(deps, await loadTaskAsPerson(deps, { workspace_id: workspaceId, id: taskId }, personId))

const withConversation = async (deps: Reading, task: Task): Promise<TaskWithConversationView> => {
  const { conversation_id } = task
  const [view, { items }] = await Promise.all([
    presentTask(deps, task),
    deps.table.query(MessageEntity, { conversation_id }, { limit: MESSAGES }),
  ])
  return {
    ...view,
    conversation: { id: conversation_id, messages: items.map((message) => presentMessage(message)).reverse() },
  }
}

const taskBytes = ({ description, result }: Task): number =>
  textBytes(description) + textBytes(result?.text ?? '') + payloadBytes(result?.output)

/**
 * Lists an agent's tasks, newest first. With a status, it reads the index of that status.
 * @param viewer person who views the agent's page
 */
export const listTasks = async (
  { table }: Pick<Deps, 'table'>,
  installationId: string,
  status: TaskStatus | undefined,
  options: Paging,
  viewer?: string,
): Promise<Page<Task>> => {
  const isOwn = (task: Task | undefined): task is Task =>
    task?.assignee?.installation_id === installationId && isVisibleTo(viewer, task)
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

/** Largest number of tasks that one request with filters looks through, and the number read at once. */
const LOOKED_AT = 1_000
const STEP = 200

/**
 * Lists the tasks of a workspace that a person may see, newest first. Filters are applied to a bounded number of tasks, so a
 * page may be short or empty and still have a next one.
 */
export const listTasksForPerson = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  personId: string,
  filter: TaskFilter,
  { limit, after }: Paging,
): Promise<Page<Task>> => {
  const isWanted = predicateOf(filter)
  const isShown = (task: Task): boolean => isVisibleTo(personId, task) && isWanted(task)
  const step = Object.values(filter).some((value) => value !== undefined) ? STEP : limit
  const items: Task[] = []
  let next = after
  for (let looked = 0; looked < LOOKED_AT; ) {
    const page = await table.query(TaskEntity, { workspace_id: workspaceId }, { limit: step, after: next })
    items.push(...page.items.filter(isShown))
    looked += page.items.length
    next = page.next
    if (items.length >= limit || next === undefined) break
  }
  const sk = (task: Task): string => TaskEntity.key(task).sk
  const kept = items.slice(0, limit)
  const last = kept.at(-1)
  const page = { items: kept, next: kept.length < items.length && last ? sk(last) : next }
  return cutPageToResponseSize(page, taskBytes, sk)
}

/** Returns the test of a filter. */
const predicateOf = (filter: TaskFilter): ((task: Task) => boolean) => {
  const { status, assignee_id, priority, label, due_until } = filter
  const q = filter.q?.toLowerCase()
  const tests: ((task: Task) => boolean)[] = []
  if (status !== undefined) tests.push((task) => task.status === status)
  if (assignee_id !== undefined) {
    tests.push((task) => (task.assignee?.installation_id ?? task.person?.id ?? 'none') === assignee_id)
  }
  if (priority !== undefined) tests.push((task) => (task.priority ?? 'normal') === priority)
  if (label !== undefined) tests.push(({ labels }) => labels?.includes(label) ?? false)
  if (due_until !== undefined) tests.push(({ due_date }) => due_date !== undefined && due_date <= due_until)
  if (q) {
    tests.push(({ title, description, labels = [] }) =>
      [title, description, ...labels].some((text) => text.toLowerCase().includes(q)),
    )
  }
  return (task) => tests.every((test) => test(task))
}
