import type { Installation } from '#shared/access/installations/index.ts'
import type { Deps, Work, WorkWrite } from '#shared/foundation/work/index.ts'
import { type Run, RunEntity } from '../runs/entity.ts'
import { newRun } from '../runs/start.ts'
import { isActive } from '../runs/status.ts'
import { type Task, TaskRunEntity } from './entity.ts'

export interface TaskRunInput {
  /** Agent of the task. */
  installation: Installation
  /** Person who starts the run. Default: the person at the start of the task's chain. */
  actor?: { id: string; name: string } | undefined
}

/** Trigger of a run that works on a task. */
const TRIGGER = 'task'

/**
 * Starts a run of the task's agent. The writes belong in the transaction of its cause. The run has the task's depth and
 * audience, regardless of who starts it, and 120 seconds of its own (contract/agent-to-agent.md#chains). Unless a person starts it,
 * it also has the age of the chain in which the task was created. `run.execute`
 * contains the messages so far.
 *
 * Callers also write the task, unless they create it. Of two concurrent calls, one is retried and finds the other's run.
 * @throws the writes: `too_many_active_runs`
 */
export const newTaskRun = async (
  work: Work,
  task: Task,
  { installation, actor }: TaskRunInput,
): Promise<{ run: Run; writes: WorkWrite[] }> => {
  const { delegated_by, parent_run_id } = task
  const { run, writes } = await newRun(work, {
    installation,
    input: { task_id: task.id, title: task.title, description: task.description },
    trigger: TRIGGER,
    actor: actor ?? task.actor,
    chain: {
      chain_depth: task.chain_depth,
      chain_started_at: actor ? undefined : task.chain_started_at,
      chain_schedules: actor ? undefined : task.chain_schedules,
      audience: task.audience,
      private_to: task.private_to,
      ...(delegated_by && { parent_run_id }),
    },
    caller: delegated_by && { ...delegated_by, run_id: parent_run_id },
    task_id: task.id,
    conversation_id: task.conversation_id,
  })
  // A new task has had no runs.
  const before = task.revision === 0 ? {} : await loadRuns(work, task)
  const runs = { ...before, [installation.id]: run.id }
  const record = { workspace_id: task.workspace_id, task_id: task.id, runs }
  return { run, writes: [...writes, TaskRunEntity.replace(record)] }
}

/** Loads the id of each agent's latest run of the task. */
const loadRuns = async (
  { table }: Pick<Deps, 'table'>,
  { workspace_id, id }: Task,
): Promise<Readonly<Record<string, string>>> =>
  (await table.get(TaskRunEntity, { workspace_id, task_id: id }))?.runs ?? {}

/** Loads this agent's active run of a task, if there is one. */
export const findActiveTaskRun = async (
  deps: Pick<Deps, 'table'>,
  task: Task,
  installationId: string,
): Promise<Run | undefined> => {
  const id = (await loadRuns(deps, task))[installationId]
  if (id === undefined) return undefined
  const run = await deps.table.get(RunEntity, { installation_id: installationId, id })
  return run && isActive(run.status) ? run : undefined
}
