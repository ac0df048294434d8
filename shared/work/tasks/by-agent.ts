import type { Work, WorkWrite } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { msg } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { markTask } from '../runs/chain.ts'
import { signOfLife } from '../runs/change.ts'
import { changedTask, type TaskChanges, taskWrite } from './change.ts'
import { newAgentMessage, type TaskAgent } from './conversation.ts'
import { emitTaskUpdated } from './emit.ts'
import type { Task } from './entity.ts'
import { presentTask } from './present.ts'
import { loadOwnTask } from './read.ts'
import { storeReport } from './report.ts'
import type { ReportProgress, ReportResult, TaskView } from './schemas.ts'
import type { TaskStatus } from './status.ts'
import { requireAgentMove } from './transitions.ts'

/** Changed fields of a task, and the writes that belong to the change. */
export interface TaskStep {
  changes: TaskChanges
  writes: WorkWrite[]
}

/** Returns the task after a step of its agent, with all of the step's writes. */
export const applyTaskStep = (
  work: Work,
  task: Task,
  { run }: TaskAgent,
  { changes, writes }: TaskStep,
): { after: Task; writes: WorkWrite[] } => {
  const after = changedTask(work, task, changes)
  return {
    after,
    writes: [
      taskWrite(task, after),
      ...writes,
      ...emitTaskUpdated(work, after, after.assignee),
      // A run of the task has the task's position in the chain. Other runs may have a shallower one.
      ...(run?.task_id === task.id ? [] : markTask(after, work.clock.now())),
    ],
  }
}

/**
 * Applies an agent's step to its own task: reads, decides and writes it. Starts over after a concurrent change.
 * @throws `not_found`, `conflict`, `run_already_finished`
 */
const applyStep = (
  work: Work,
  agent: TaskAgent,
  taskId: string,
  decide: (task: Task) => TaskStep | Promise<TaskStep>,
): Promise<TaskView> =>
  retryOnConflict(async () => {
    const task = await loadOwnTask(work, agent.installation, taskId)
    const { after, writes } = applyTaskStep(work, task, agent, await decide(task))
    const view = await presentTask(work, after)
    await work.commit([...writes, ...(agent.run ? [signOfLife(work, agent.run)] : [])], view)
    return view
  })

/** Handles `POST /tasks/{id}/progress`. The first report moves the task out of `todo`. Later ones keep its status. */
export const reportProgress = (
  work: Work,
  agent: TaskAgent,
  taskId: string,
  { text, percent }: ReportProgress,
): Promise<TaskView> =>
  applyStep(work, agent, taskId, (task) => ({
    changes: {
      ...(task.status === 'todo' && { status: 'in_progress' as const }),
      ...(percent !== undefined && { percent }),
    },
    writes: newAgentMessage(work, task, agent, text),
  }))

/** Step for an agent's question: the task moves to `discuss` and its people are notified. */
export const questionStep = (work: Work, task: Task, agent: TaskAgent, text: string): TaskStep => ({
  changes: { status: 'discuss', question: { text, at: work.clock.now() } },
  writes: [...newAgentMessage(work, task, agent, text), ...notice(work, task, agent, 'task.question', text)],
})

/** Handles `POST /tasks/{id}/question`, in any status. */
export const askQuestion = (work: Work, agent: TaskAgent, taskId: string, text: string): Promise<TaskView> =>
  applyStep(work, agent, taskId, (task) => questionStep(work, task, agent, text))

const LIMITS_OF_RUNS: ReadonlySet<string> = new Set([
  'too_many_active_runs',
  'budget_exceeded',
  'chain_budget_exceeded',
])

/** Handles `POST /tasks/{id}/report`, in any status. A later report replaces an earlier one. */
export const reportResult = async (
  work: Work,
  agent: TaskAgent,
  taskId: string,
  report: ReportResult,
): Promise<TaskView> => {
  const attempt = (wake: boolean): Promise<TaskView> =>
    applyStep(work, agent, taskId, async (task) => {
      const { result, writes } = await storeReport(work, task, agent, report, wake)
      return {
        changes: { status: 'review', result },
        writes: [
          ...newAgentMessage(work, task, agent, report.text),
          ...notice(work, task, agent, 'task.report', report.text),
          ...writes,
        ],
      }
    })
  try {
    return await attempt(true)
  } catch (error) {
    // The agent that delegated the task is at a limit, or its chain has ended. That must not keep the report from being stored.
    const isAtLimit = error instanceof PlatformError && LIMITS_OF_RUNS.has(error.code)
    if (!isAtLimit) throw error
    return attempt(false)
  }
}

/** Handles `POST /tasks/{id}/status`, for the moves that an agent may make. */
export const setTaskStatus = (work: Work, agent: TaskAgent, taskId: string, status: TaskStatus): Promise<TaskView> =>
  applyStep(work, agent, taskId, (task) => {
    requireAgentMove(task, status)
    return { changes: { status }, writes: [] }
  })

/** Returns the title of a task's notification. */
const titleOf = (kind: 'task.question' | 'task.report', task: string) =>
  kind === 'task.question' ? msg('Question about {task}', { task }) : msg('Ready for review: {task}', { task })

const notice = (
  work: Work,
  task: Task,
  agent: TaskAgent,
  kind: 'task.question' | 'task.report',
  text: string,
): Write[] =>
  newNotification(work, {
    workspace_id: task.workspace_id,
    user_id: task.private_to,
    kind,
    title: titleOf(kind, quoteName(task.title)),
    body: text,
    installation_id: agent.installation.id,
    app_id: agent.app.id,
    target: { type: 'task', id: task.id },
  }).writes
