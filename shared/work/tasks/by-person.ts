import { canTakeTasks, InstallationEntity } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { Message } from '../conversations/entity.ts'
import { type MessageView, presentMessage } from '../conversations/schemas.ts'
import { reassignmentWrites } from './assign.ts'
import { changedTask, loadTask, type TaskChanges, taskWrite } from './change.ts'
import { newPersonMessage } from './conversation.ts'
import { assigneeOf, newTask } from './create.ts'
import type { Task } from './entity.ts'
import { presentTask } from './present.ts'
import type { CreateTask, EditTask, HandedTaskView, TaskView } from './schemas.ts'
import { findActiveTaskRun, newTaskRun } from './start-run.ts'
import { loadTaskAgent, type TaskWorkspace } from './task-agent.ts'

export interface Person {
  id: string
  name: string
}

/**
 * Handles `POST /console/tasks`: creates a task at the start of its chain.
 * @throws `not_found`, `installation_suspended`, `agent_cannot_take_tasks`
 */
export const createTask = async (
  work: Work,
  workspace: TaskWorkspace,
  user: Person,
  { title, description, installation_id }: CreateTask,
): Promise<TaskView> => {
  const assignee = installation_id === undefined ? undefined : await loadTaskAgent(work, workspace, installation_id)
  const actor = { id: user.id, name: user.name }
  const { task, writes } = newTask(work, {
    workspace_id: workspace.id,
    title,
    description,
    audience: 'member',
    chain_depth: 0,
    actor,
    created_by: { type: 'user', ...actor },
    assignee,
  })
  const view = await presentTask(work, task)
  await work.commit(writes, view)
  return view
}

/**
 * Creates a task for an agent and starts its run, in one transaction.
 * @throws the errors of {@link createTask}; `too_many_active_runs`
 */
export const delegateTaskAsPerson = async (
  work: Work,
  workspace: TaskWorkspace,
  user: Person,
  { title, description, installation_id }: CreateTask & { installation_id: string },
): Promise<HandedTaskView> => {
  const installation = await loadTaskAgent(work, workspace, installation_id)
  const actor = { id: user.id, name: user.name }
  const { task, writes } = newTask(work, {
    workspace_id: workspace.id,
    title,
    description,
    audience: 'member',
    chain_depth: 0,
    actor,
    created_by: { type: 'user', ...actor },
    assignee: installation,
  })
  const { run, writes: started } = await newTaskRun(work, task, { installation, actor })
  const view = { ...(await presentTask(work, task)), run_id: run.id }
  await work.commit([...writes, ...started], view)
  return view
}

/** Returns the task after a person's change, with all of the change's writes. */
const altered = async (work: Work, task: Task, changes: TaskChanges): Promise<{ after: Task; writes: Write[] }> => {
  const after = changedTask(work, task, changes)
  return { after, writes: [taskWrite(task, after), ...(await reassignmentWrites(work, task, after))] }
}

/**
 * Handles `PATCH /console/tasks/{id}`: changes the given fields. A person may set any status.
 * @throws `not_found`, `installation_suspended`, `agent_cannot_take_tasks`, `conflict`
 */
export const editTask = (
  work: Work,
  workspace: TaskWorkspace,
  id: string,
  { installation_id, ...fields }: EditTask,
): Promise<TaskView> =>
  retryOnConflict(async () => {
    const task = await loadTask(work, { workspace_id: workspace.id, id })
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    const { after, writes } = await altered(work, task, {
      ...given,
      ...(installation_id === null && { assignee: undefined }),
      ...(typeof installation_id === 'string' && {
        assignee: assigneeOf(await loadTaskAgent(work, workspace, installation_id)),
      }),
    })
    const view = await presentTask(work, after)
    await work.commit(writes, view)
    return view
  })

/** Changes that resume work on a task. In `todo` they change nothing, because the agent itself moves the task on. */
const resumed = ({ status }: Task): TaskChanges => (status === 'todo' ? {} : { status: 'in_progress' })

/**
 * Handles `POST /console/tasks/{id}/run`: assigns the task to the agent and starts a run.
 * @throws `not_found`; `validation_error` without a current or given agent; `conflict` while the agent works on the task;
 *   `installation_suspended`, `agent_cannot_take_tasks`, `too_many_active_runs`
 */
export const runTask = (
  work: Work,
  workspace: TaskWorkspace,
  id: string,
  user: Person,
  installationId: string | undefined,
): Promise<HandedTaskView> =>
  retryOnConflict(async () => {
    const task = await loadTask(work, { workspace_id: workspace.id, id })
    const to = installationId ?? task.assignee?.installation_id
    if (to === undefined) {
      throw fail('validation_error', {
        message: 'The task has no agent.',
        details: { fields: { installation_id: ['is required while no agent has the task'] } },
      })
    }
    const installation = await loadTaskAgent(work, workspace, to)
    const active = await findActiveTaskRun(work, task, installation.id)
    if (active) {
      throw fail('conflict', {
        message: 'The agent is already working on this task.',
        fix: 'Wait until the run ends, or cancel it.',
        details: { run_id: active.id },
      })
    }
    const { after, writes } = await altered(work, task, { ...resumed(task), assignee: assigneeOf(installation) })
    const handed = await newTaskRun(work, after, { installation, actor: { id: user.id, name: user.name } })
    const view = { ...(await presentTask(work, after)), run_id: handed.run.id }
    await work.commit([...writes, ...handed.writes], view)
    return view
  })

/**
 * Handles `POST /console/tasks/{id}/messages`. The answer to a question returns the task to `in_progress` and starts a run
 * of its agent. If a run of the task is active, its agent gets the event `message.created` instead.
 * @throws `not_found`, `too_many_active_runs`
 */
export const answerTask = (
  work: Work,
  workspace: TaskWorkspace,
  id: string,
  user: Person,
  text: string,
  attachments: Message['attachments'] = [],
): Promise<MessageView> =>
  retryOnConflict(async () => {
    const task = await loadTask(work, { workspace_id: workspace.id, id })
    const { message, writes: messageWrites } = newPersonMessage(work, task, user, text, attachments)
    const { after, writes } = await altered(work, task, task.status === 'discuss' ? resumed(task) : {})
    const run = task.status === 'discuss' ? await nextRun(work, workspace, after, user) : []
    const view = presentMessage(message)
    await work.commit([...writes, ...messageWrites, ...run], view)
    return view
  })

/** Writes of the run that handles an answer. Empty if a run is active, or if no agent can take the task. */
const nextRun = async (work: Work, workspace: TaskWorkspace, task: Task, user: Person): Promise<Write[]> => {
  const { workspace_id, assignee } = task
  if (!assignee) return []
  const [installation, active] = await Promise.all([
    work.table.get(InstallationEntity, { workspace_id, id: assignee.installation_id }),
    findActiveTaskRun(work, task, assignee.installation_id),
  ])
  if (active || installation?.status !== 'active' || !canTakeTasks(installation, workspace)) return []
  const { writes } = await newTaskRun(work, task, { installation, actor: { id: user.id, name: user.name } })
  return writes
}
