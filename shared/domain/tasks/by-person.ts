import type { Message } from '../../entities/conversations.ts'
import { InstallationEntity } from '../../entities/installations.ts'
import type { Task } from '../../entities/tasks.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { takesTasks } from '../agents/find.ts'
import { type MessageView, presentMessage } from '../conversations/schemas.ts'
import type { Work } from '../deps.ts'
import { following } from './assign.ts'
import { changed, loadTask, type TaskChanges, taskWrite, whileTaskMoves } from './change.ts'
import { personSays } from './conversation.ts'
import { assigneeOf, newTask } from './create.ts'
import { activeRun, handTask } from './hand.ts'
import { presentTask } from './present.ts'
import type { CreateTask, EditTask, HandedTaskView, TaskView } from './schemas.ts'
import { type Organization, takerIn } from './taker.ts'

export interface Person {
  id: string
  name: string
}

/**
 * `POST /console/tasks`: a task at the start of its chain.
 * @throws `not_found`, `installation_suspended`, `agent_cannot_take_tasks`
 */
export const createTask = async (
  work: Work,
  workspace: Organization,
  user: Person,
  { title, description, installation_id }: CreateTask,
): Promise<TaskView> => {
  const assignee = installation_id === undefined ? undefined : await takerIn(work, workspace, installation_id)
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

/** The task after a person’s change, with every write of it. */
const altered = async (work: Work, task: Task, changes: TaskChanges): Promise<{ after: Task; writes: Write[] }> => {
  const after = changed(work, task, changes)
  return { after, writes: [taskWrite(task, after), ...(await following(work, task, after))] }
}

/**
 * `PATCH /console/tasks/{id}`: what is given changes; any status follows any other.
 * @throws `not_found`, `installation_suspended`, `agent_cannot_take_tasks`, `conflict`
 */
export const editTask = (
  work: Work,
  workspace: Organization,
  id: string,
  { installation_id, ...fields }: EditTask,
): Promise<TaskView> =>
  whileTaskMoves(async () => {
    const task = await loadTask(work, { workspace_id: workspace.id, id })
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    const { after, writes } = await altered(work, task, {
      ...given,
      ...(installation_id === null && { assignee: undefined }),
      ...(typeof installation_id === 'string' && {
        assignee: assigneeOf(await takerIn(work, workspace, installation_id)),
      }),
    })
    const view = await presentTask(work, after)
    await work.commit(writes, view)
    return view
  })

/** Work on it begins, or begins again; from `todo` the agent itself moves it. */
const resumed = ({ status }: Task): TaskChanges => (status === 'todo' ? {} : { status: 'in_progress' })

/**
 * `POST /console/tasks/{id}/run`: starts a run of the agent, whose task it becomes.
 * @throws `not_found`; `validation_error` when no agent has it and none is named; `conflict` while its agent works on it;
 *   `installation_suspended`, `agent_cannot_take_tasks`, `too_many_active_runs`
 */
export const runTask = (
  work: Work,
  workspace: Organization,
  id: string,
  user: Person,
  installationId: string | undefined,
): Promise<HandedTaskView> =>
  whileTaskMoves(async () => {
    const task = await loadTask(work, { workspace_id: workspace.id, id })
    const to = installationId ?? task.assignee?.installation_id
    if (to === undefined) {
      throw fail('validation_error', {
        message: 'No agent has this task.',
        details: { fields: { installation_id: ['required while no agent has the task'] } },
      })
    }
    const installation = await takerIn(work, workspace, to)
    const active = await activeRun(work, task, installation.id)
    if (active) {
      throw fail('conflict', {
        message: 'The agent is working on this task.',
        fix: 'Wait for the run’s end, or cancel it.',
        details: { run_id: active.id },
      })
    }
    const { after, writes } = await altered(work, task, { ...resumed(task), assignee: assigneeOf(installation) })
    const handed = await handTask(work, after, { installation, actor: { id: user.id, name: user.name } })
    const view = { ...(await presentTask(work, after)), run_id: handed.run.id }
    await work.commit([...writes, ...handed.writes], view)
    return view
  })

/**
 * `POST /console/tasks/{id}/messages`. The answer to a question returns the task to `in_progress` and starts a run of its
 * agent, unless one of the task is active: that one is told by `message.created`.
 * @throws `not_found`, `too_many_active_runs`
 */
export const answerTask = (
  work: Work,
  workspace: Organization,
  id: string,
  user: Person,
  text: string,
  attachments: Message['attachments'] = [],
): Promise<MessageView> =>
  whileTaskMoves(async () => {
    const task = await loadTask(work, { workspace_id: workspace.id, id })
    const { message, writes: said } = personSays(work, task, user, text, attachments)
    const { after, writes } = await altered(work, task, task.status === 'discuss' ? resumed(task) : {})
    const run = task.status === 'discuss' ? await nextRun(work, workspace, after, user) : []
    const view = presentMessage(message)
    await work.commit([...writes, ...said, ...run], view)
    return view
  })

/** The run that takes an answer up; none where one goes on, or where nobody could. */
const nextRun = async (work: Work, workspace: Organization, task: Task, user: Person): Promise<Write[]> => {
  const { workspace_id, assignee } = task
  if (!assignee) return []
  const [installation, active] = await Promise.all([
    work.table.get(InstallationEntity, { workspace_id, id: assignee.installation_id }),
    activeRun(work, task, assignee.installation_id),
  ])
  if (active || installation?.status !== 'active' || !takesTasks(installation, workspace)) return []
  const { writes } = await handTask(work, task, { installation, actor: { id: user.id, name: user.name } })
  return writes
}
