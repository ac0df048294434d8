import { canTakeTasks } from '#shared/access/installations/index.ts'
import type { Work, WorkWrite } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { markTask } from '#shared/work/runs/index.ts'
import { newTask, newTaskRun } from '#shared/work/tasks/index.ts'
import { admitCall, type CallingAgent } from './admit.ts'
import { type AgentCall, auditedCall, auditRefusal, startCall, withRefusalAudit } from './audit.ts'

export interface DelegateTask {
  agent: string
  title: string
  description: string
  start_now: boolean
  audience?: 'member' | 'external' | undefined
}

export interface Delegated {
  result: Record<string, unknown>
  /** Creates the task, its run and the audit entry in one transaction. */
  writes: WorkWrite[]
  /** Must be called when that transaction is refused. */
  refused(error: PlatformError): Promise<void>
}

/**
 * `delegate_task`: creates a task for another agent and starts a run for it unless `start_now` is false. The task is
 * one level deeper in the chain and external if its cause is. Its run gets its own 120 seconds
 * (contract/agent-to-agent.md#delegating-a-task). The report goes back to the caller.
 * @throws the refusals of {@link admitCall}, `agent_cannot_take_tasks`; the writes: `too_many_active_runs`
 */
export const delegateTask = async (
  work: Work,
  caller: CallingAgent,
  { agent, audience, title, description, start_now }: DelegateTask,
): Promise<Delegated> => {
  const asked: AgentCall = { kind: 'delegate_task', agent, audience }
  const call = startCall(work, caller, asked)
  return withRefusalAudit(work, call, async () => {
    const {
      target,
      chain,
      caller: shown,
    } = await admitCall(work, caller, call, ({ installation }) => {
      if (!canTakeTasks(installation, caller.workspace)) throw fail('agent_cannot_take_tasks')
    })
    const { run_id, ...delegated_by } = shown
    const { task, writes } = newTask(work, {
      workspace_id: caller.workspace.id,
      title,
      description,
      audience: chain.audience,
      assignee: target.installation,
      created_by: { type: 'agent', id: caller.installation.id, name: caller.app.name },
      delegated_by,
      actor: chain.actor,
      private_to: chain.private_to,
      chain_depth: chain.chain_depth,
      chain_started_at: chain.chain_started_at,
      chain_schedules: chain.chain_schedules,
      parent_run_id: run_id,
    })
    const started = start_now ? await newTaskRun(work, task, { installation: target.installation }) : undefined
    const target_run_id = started?.run.id ?? null
    return {
      result: {
        task_id: task.id,
        status: task.status,
        agent: target.installation.app_name,
        source: `agent:${target.app.slug}`,
        run_id: target_run_id,
        chain_depth: task.chain_depth,
      },
      writes: [
        ...writes,
        ...(started?.writes ?? markTask(task, work.clock.now())),
        auditedCall(work, call, { task_id: task.id, target_run_id, chain_depth: task.chain_depth }),
      ],
      refused: (error) => auditRefusal(work, call, error),
    }
  })
}
