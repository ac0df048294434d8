import { ORCHESTRATOR_APP_ID } from '#shared/access/orchestrator/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { isId } from '#shared/kernel/ids.ts'
import { msg } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'
import { loadCallPosition } from '#shared/work/runs/index.ts'
import {
  applyTaskStep,
  listTasks,
  loadOwnTask,
  newTask,
  questionStep,
  type TaskStatus,
  taskNotFound,
} from '#shared/work/tasks/index.ts'
import type { Executor } from './executor.ts'

/**
 * `create_task`: creates a task assigned to the caller. The orchestrator's tasks are for the people instead. It adds no
 * hop to the chain (contract/agent-to-agent.md#chains).
 */
export const createTask: Executor = async (work, { installation, app, run, bound }, args) => {
  const { title, description } = args as { title: string; description: string }
  const { audience, actor, chain_depth, chain_started_at, chain_schedules, private_to } = await loadCallPosition(
    work,
    installation.id,
    run,
    bound,
  )
  const { task, writes } = newTask(work, {
    workspace_id: installation.workspace_id,
    title,
    description,
    audience,
    actor,
    private_to,
    chain_depth,
    chain_started_at,
    chain_schedules,
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

/**
 * `ask_user` with a task is the same as `POST /tasks/{id}/question`. In a run it becomes a question of the run before it
 * gets here. Without either, there is nothing that could take an answer, so it is a notification.
 */
export const askUser: Executor = async (work, { installation, app, run, bound }, args) => {
  const { question: text, task_id } = args as { question: string; task_id?: string }
  if (task_id !== undefined) {
    if (!isId('task', task_id)) throw taskNotFound()
    const task = await loadOwnTask(work, installation, task_id)
    const agent = { installation, app, run }
    const { writes } = applyTaskStep(work, task, agent, questionStep(work, task, agent, text))
    return { result: { asked: true, task_id }, writes }
  }
  const { private_to } = await loadCallPosition(work, installation.id, run, bound)
  const { writes } = newNotification(work, {
    workspace_id: installation.workspace_id,
    user_id: private_to,
    kind: 'agent.question',
    title: msg('{agent} has a question', { agent: quoteName(app.name) }),
    body: text,
    installation_id: installation.id,
    app_id: app.id,
  })
  return { result: { asked: true, task_id: null }, writes }
}
