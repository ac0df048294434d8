import { canTakeTasks, InstallationEntity } from '#shared/access/installations/index.ts'
import { isVisibleTo, type Work, type WorkWrite } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { findMember } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { msg } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { loadAttachments } from '../conversations/attachments.ts'
import { type Message, ReadMarkEntity } from '../conversations/entity.ts'
import { type MessageView, presentMessage } from '../conversations/schemas.ts'
import { reassignmentWrites } from './assign.ts'
import { changedTask, loadTaskAsPerson, type TaskChanges, taskWrite } from './change.ts'
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
 * @throws `not_found`, `installation_suspended`, `agent_cannot_take_tasks`, `validation_error` for an unknown file or person
 */
export const createTask = async (
  work: Work,
  workspace: TaskWorkspace,
  user: Person,
  {
    title,
    description,
    installation_id,
    user_id,
    priority = 'normal',
    due_date,
    labels = [],
    attachments = [],
  }: Pick<CreateTask, 'title' | 'description'> & Partial<CreateTask>,
): Promise<TaskView> => {
  const assignee = installation_id === undefined ? undefined : await loadTaskAgent(work, workspace, installation_id)
  const person = user_id === undefined ? undefined : await loadPerson(work, workspace, user_id)
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
    person,
    due_date,
    priority: priority === 'normal' ? undefined : priority,
    labels: labels.length > 0 ? labels : undefined,
    attachments: attachments.length > 0 ? await loadAttachments(work, workspace.id, attachments) : undefined,
  })
  const view = await presentTask(work, task)
  const mark = { workspace_id: workspace.id, user_id: user.id, conversation_id: task.conversation_id, message_id: '' }
  await work.commit([...writes, ReadMarkEntity.create(mark), ...assignmentNotice(work, user, undefined, task)], view)
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
  { title, description, installation_id }: Pick<CreateTask, 'title' | 'description'> & { installation_id: string },
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

/** Loads the member that a task is given to. @throws `validation_error` */
const loadPerson = async (work: Work, { id: workspace_id }: TaskWorkspace, user_id: string): Promise<Person> => {
  const member = await findMember(work, workspace_id, user_id)
  if (member) return { id: member.user_id, name: member.name }
  throw fail('validation_error', {
    message: 'The person isn’t a member of this workspace.',
    details: { fields: { user_id: ['is not a member of this workspace'] } },
  })
}

/** Notification for a person who gets a task from somebody else. */
const assignmentNotice = (work: Work, by: Person, before: Task | undefined, { person, ...task }: Task): Write[] => {
  if (!person || person.id === before?.person?.id || person.id === by.id) return []
  return newNotification(work, {
    workspace_id: task.workspace_id,
    user_id: person.id,
    kind: 'task.assigned',
    title: msg('{person} assigned you {task}', { person: quoteName(by.name), task: quoteName(task.title) }),
    body: task.description.slice(0, 300),
    target: { type: 'task', id: task.id },
  }).writes
}

/** @throws `validation_error` for a task that only one person sees, if another person gets it */
const requireVisible = (task: Task, { user_id }: EditTask): void => {
  if (typeof user_id !== 'string' || isVisibleTo(user_id, task)) return
  throw fail('validation_error', {
    message: 'The task comes from your private conversation, so only you can see it.',
    fix: 'Create a new task for this person.',
    details: { fields: { user_id: ['can’t see this task'] } },
  })
}

/** Returns the changed fields of an edit. An agent and a person replace each other. */
const changesOf = async (
  work: Work,
  workspace: TaskWorkspace,
  { installation_id, user_id, attachments, due_date, ...fields }: EditTask,
): Promise<TaskChanges> => ({
  ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
  ...(due_date !== undefined && { due_date: due_date ?? undefined }),
  ...(attachments && { attachments: await loadAttachments(work, workspace.id, attachments) }),
  ...(installation_id === null && { assignee: undefined }),
  ...(user_id === null && { person: undefined }),
  ...(typeof installation_id === 'string' && {
    assignee: assigneeOf(await loadTaskAgent(work, workspace, installation_id)),
    person: undefined,
  }),
  ...(typeof user_id === 'string' && { person: await loadPerson(work, workspace, user_id), assignee: undefined }),
})

/** Returns the task after a person's change, with all of the change's writes. */
const altered = async (work: Work, task: Task, changes: TaskChanges): Promise<{ after: Task; writes: Write[] }> => {
  const after = changedTask(work, task, changes)
  return { after, writes: [taskWrite(task, after), ...(await reassignmentWrites(work, task, after))] }
}

/**
 * Handles `PATCH /console/tasks/{id}`: changes the given fields. A person may set any status.
 * @throws `not_found`, `installation_suspended`, `agent_cannot_take_tasks`, `conflict`, `validation_error`
 */
export const editTask = (
  work: Work,
  workspace: TaskWorkspace,
  id: string,
  user: Person,
  edit: EditTask,
): Promise<TaskView> =>
  retryOnConflict(async () => {
    const task = await loadTaskAsPerson(work, { workspace_id: workspace.id, id }, user.id)
    requireVisible(task, edit)
    const { after, writes } = await altered(work, task, await changesOf(work, workspace, edit))
    const view = await presentTask(work, after)
    await work.commit([...writes, ...assignmentNotice(work, user, task, after)], view)
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
    const task = await loadTaskAsPerson(work, { workspace_id: workspace.id, id }, user.id)
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
    const { after, writes } = await altered(work, task, {
      ...resumed(task),
      assignee: assigneeOf(installation),
      person: undefined,
    })
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
    const task = await loadTaskAsPerson(work, { workspace_id: workspace.id, id }, user.id)
    const { message, writes: messageWrites } = newPersonMessage(work, task, user, text, attachments)
    const { after, writes } = await altered(work, task, task.status === 'discuss' ? resumed(task) : {})
    const run = task.status === 'discuss' ? await nextRun(work, workspace, after, user) : []
    const view = presentMessage(message)
    await work.commit([...writes, ...messageWrites, ...run], view)
    return view
  })

/** Writes of the run that handles an answer. Empty if a run is active, or if no agent can take the task. */
const nextRun = async (work: Work, workspace: TaskWorkspace, task: Task, user: Person): Promise<WorkWrite[]> => {
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
