import type { TaskStatus } from '../../../entities/tasks.ts'
import { iso } from '../../../kernel/clock.ts'
import { isId } from '../../../kernel/ids.ts'
import { newNotification } from '../../notifications/new.ts'
import { ORCHESTRATOR_APP_ID } from '../../orchestrator/principal.ts'
import { positionOfCall } from '../../runs/chain.ts'
import { question, taken } from '../../tasks/by-agent.ts'
import { noSuchTask } from '../../tasks/change.ts'
import { newTask } from '../../tasks/create.ts'
import { listTasks, taskOf } from '../../tasks/read.ts'
import type { Executor } from './executor.ts'

/**
 * `create_task`: a task of the caller's own; the orchestrator's is the people's. It is no hop: it stands where the call stands
 * (decisions §5).
 */
export const createTask: Executor = async (work, { installation, app, run, bound }, args) => {
  const { title, description } = args as { title: string; description: string }
  const { audience, actor, chain_depth } = await positionOfCall(work, installation.id, run, bound)
  const { task, writes } = newTask(work, {
    workspace_id: installation.workspace_id,
    title,
    description,
    audience,
    actor,
    chain_depth,
    assignee: app.id === ORCHESTRATOR_APP_ID ? undefined : installation,
    created_by: { type: 'agent', id: installation.id, name: app.name },
    parent_run_id: run?.id,
  })
  const { id: task_id, status, conversation_id } = task
  return { result: { task_id, title, status, audience, chain_depth, conversation_id }, writes }
}

export const myTasks: Executor = async (work, { installation }, args) => {
  const { status, limit } = args as { status?: TaskStatus; limit: number }
  const { items } = await listTasks(work, installation.id, status, { limit })
  return {
    result: {
      tasks: items.map((task) => ({
        id: task.id,
        title: task.title,
        description: task.description,
        status: task.status,
        audience: task.audience,
        conversation_id: task.conversation_id,
        chain_depth: task.chain_depth,
        created_at: iso(task.created_at),
        updated_at: iso(task.updated_at),
      })),
    },
    writes: [],
  }
}

/** `ask_user`: about a task it is what `POST /tasks/{id}/question` is; else a notification that leads to the run. */
export const askUser: Executor = async (work, { installation, app, run }, args) => {
  const { question: text, task_id } = args as { question: string; task_id?: string }
  if (task_id !== undefined) {
    if (!isId('task', task_id)) throw noSuchTask()
    const task = await taskOf(work, installation, task_id)
    const agent = { installation, app, run }
    const { writes } = taken(work, task, agent, question(work, task, agent, text))
    return { result: { asked: true, task_id }, writes }
  }
  const { writes } = newNotification(work, {
    workspace_id: installation.workspace_id,
    // In a person's chat it is that person who is asked.
    user_id: run?.private_to,
    kind: 'agent.question',
    title: `${app.name} asks`,
    body: text,
    installation_id: installation.id,
    app_id: app.id,
    ...(run && { target: { type: 'run', id: run.id } }),
  })
  return { result: { asked: true, task_id: null }, writes }
}
