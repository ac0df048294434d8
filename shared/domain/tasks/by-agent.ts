import type { Task, TaskStatus } from '../../entities/tasks.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { newNotification } from '../notifications/new.ts'
import { markTask } from '../runs/chain.ts'
import { signOfLife } from '../runs/change.ts'
import { changed, type TaskChanges, taskWrite, whileTaskMoves } from './change.ts'
import { agentSays, type TaskAgent } from './conversation.ts'
import { presentTask } from './present.ts'
import { taskOf } from './read.ts'
import { reported } from './report.ts'
import type { ReportProgress, ReportResult, TaskView } from './schemas.ts'
import { tellUpdated } from './tell.ts'
import { requireAgentMove } from './transitions.ts'

/** What becomes of a task: the fields that change, and what is written with them. */
export interface Step {
  changes: TaskChanges
  writes: Write[]
}

/** The task after a step of its agent, with every write of it. */
export const taken = (
  work: Work,
  task: Task,
  { run }: TaskAgent,
  { changes, writes }: Step,
): { after: Task; writes: Write[] } => {
  const after = changed(work, task, changes)
  return {
    after,
    writes: [
      taskWrite(task, after),
      ...writes,
      ...tellUpdated(work, after, after.assignee),
      // A run of the task stands where the task does; any other may stand higher.
      ...(run?.task_id === task.id ? [] : markTask(after, work.clock.now())),
    ],
  }
}

/**
 * An agent's step with a task of its own: read, decided, and written at once, again if another change came first.
 * @throws `not_found`, `conflict`, `run_already_finished`
 */
const step = (
  work: Work,
  agent: TaskAgent,
  taskId: string,
  decide: (task: Task) => Step | Promise<Step>,
): Promise<TaskView> =>
  whileTaskMoves(async () => {
    const task = await taskOf(work, agent.installation, taskId)
    const { after, writes } = taken(work, task, agent, await decide(task))
    const view = await presentTask(work, after)
    await work.commit([...writes, ...(agent.run ? [signOfLife(work, agent.run)] : [])], view)
    return view
  })

/** `POST /tasks/{id}/progress`: the first one takes the task out of `todo`; else its status stays. */
export const reportProgress = (
  work: Work,
  agent: TaskAgent,
  taskId: string,
  { text, percent }: ReportProgress,
): Promise<TaskView> =>
  step(work, agent, taskId, (task) => ({
    changes: {
      ...(task.status === 'todo' && { status: 'in_progress' as const }),
      ...(percent !== undefined && { percent }),
    },
    writes: agentSays(work, task, agent, text),
  }))

/** What a question comes to: the task waits in `discuss`, and its people are told. */
export const question = (work: Work, task: Task, agent: TaskAgent, text: string): Step => ({
  changes: { status: 'discuss' },
  writes: [...agentSays(work, task, agent, text), ...notice(work, task, agent, 'task.question', text)],
})

/** `POST /tasks/{id}/question`, from any status. */
export const askQuestion = (work: Work, agent: TaskAgent, taskId: string, text: string): Promise<TaskView> =>
  step(work, agent, taskId, (task) => question(work, task, agent, text))

/** `POST /tasks/{id}/report`, from any status. A later report takes the place of an earlier one. */
export const reportResult = (work: Work, agent: TaskAgent, taskId: string, report: ReportResult): Promise<TaskView> =>
  step(work, agent, taskId, async (task) => {
    const { result, writes } = await reported(work, task, agent, report)
    return {
      changes: { status: 'review', result },
      writes: [
        ...agentSays(work, task, agent, report.text),
        ...notice(work, task, agent, 'task.report', report.text),
        ...writes,
      ],
    }
  })

/** `POST /tasks/{id}/status`, as far as an agent may. */
export const setStatus = (work: Work, agent: TaskAgent, taskId: string, status: TaskStatus): Promise<TaskView> =>
  step(work, agent, taskId, (task) => {
    requireAgentMove(task, status)
    return { changes: { status }, writes: [] }
  })

const TITLES = { 'task.question': 'A question about', 'task.report': 'To review:' } as const

const notice = (work: Work, task: Task, agent: TaskAgent, kind: keyof typeof TITLES, text: string): Write[] =>
  newNotification(work, {
    workspace_id: task.workspace_id,
    kind,
    title: `${TITLES[kind]} ${task.title}`,
    body: text,
    installation_id: agent.installation.id,
    app_id: agent.app.id,
    target: { type: 'task', id: task.id },
  }).writes
