import type { Installation } from '../../entities/installations.ts'
import { isActive, type Run, RunEntity } from '../../entities/runs.ts'
import { type Task, TaskRunEntity } from '../../entities/tasks.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps, Work } from '../deps.ts'
import { newRun } from '../runs/start.ts'

export interface Handing {
  /** The agent whose task it is. */
  installation: Installation
  /** The person who hands it on; without one, the person at the start of the task's chain. */
  actor?: { id: string; name: string } | undefined
}

/** The trigger of a run that works on a task. */
const TRIGGER = 'task'

/**
 * Starts a run of the agent whose task it is: the writes go into the transaction of what causes it. The run stands as
 * deep as the task does and has the task's audience, whoever hands it on; its 120 seconds begin anew (decisions §5). What
 * has been said so far goes along with `run.execute`.
 *
 * Whoever hands a task on that exists writes it, too: of two at once, one reads again and finds the other's run.
 * @throws the writes: `too_many_active_runs`
 */
export const handTask = async (
  work: Work,
  task: Task,
  { installation, actor }: Handing,
): Promise<{ run: Run; writes: Write[] }> => {
  const { delegated_by, parent_run_id } = task
  const { run, writes } = await newRun(work, {
    installation,
    input: { task_id: task.id, title: task.title, description: task.description },
    trigger: TRIGGER,
    actor: actor ?? task.actor,
    chain: {
      chain_depth: task.chain_depth,
      audience: task.audience,
      ...(delegated_by && { parent_run_id }),
    },
    caller: delegated_by && { ...delegated_by, run_id: parent_run_id },
    task_id: task.id,
    conversation_id: task.conversation_id,
  })
  // What was just created has had none.
  const before = task.revision === 0 ? {} : await runsOf(work, task)
  const runs = { ...before, [installation.id]: run.id }
  const record = { workspace_id: task.workspace_id, task_id: task.id, runs }
  return { run, writes: [...writes, TaskRunEntity.replace(record)] }
}

/** Each agent’s latest run of the task. */
const runsOf = async (
  { table }: Pick<Deps, 'table'>,
  { workspace_id, id }: Task,
): Promise<Readonly<Record<string, string>>> =>
  (await table.get(TaskRunEntity, { workspace_id, task_id: id }))?.runs ?? {}

/** The run of a task by this agent that goes on, if one does. */
export const activeRun = async (
  deps: Pick<Deps, 'table'>,
  task: Task,
  installationId: string,
): Promise<Run | undefined> => {
  const id = (await runsOf(deps, task))[installationId]
  if (id === undefined) return undefined
  const run = await deps.table.get(RunEntity, { installation_id: installationId, id })
  return run && isActive(run.status) ? run : undefined
}
