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
  const record = {
    workspace_id: task.workspace_id,
    task_id: task.id,
    installation_id: installation.id,
    run_id: run.id,
  }
  return { run, writes: [...writes, TaskRunEntity.replace(record)] }
}

/** The run of a task by this agent that goes on, if one does. */
export const activeRun = async (
  { table }: Pick<Deps, 'table'>,
  { workspace_id, id }: Task,
  installationId: string,
): Promise<Run | undefined> => {
  const latest = await table.get(TaskRunEntity, { workspace_id, task_id: id })
  if (latest?.installation_id !== installationId) return undefined
  const run = await table.get(RunEntity, { installation_id: installationId, id: latest.run_id })
  return run && isActive(run.status) ? run : undefined
}
