import { fail, type PlatformError } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { markTask } from '../runs/chain.ts'
import { newTask } from '../tasks/create.ts'
import { handTask } from '../tasks/hand.ts'
import { admitCall, type CallingAgent } from './admit.ts'
import { type AgentCall, auditingRefusals, auditRefusal, called, calling } from './audit.ts'
import { takesTasks } from './find.ts'

export interface DelegateTask {
  agent: string
  title: string
  description: string
  start_now: boolean
  audience?: 'member' | 'external' | undefined
}

export interface Delegated {
  result: Record<string, unknown>
  /** The task, its run and the entry in the audit, for one transaction. */
  writes: Write[]
  /** To be told when that transaction is refused. */
  refused(error: PlatformError): Promise<void>
}

/**
 * `delegate_task`: a task for another agent, and a run that begins with it unless `start_now` is false. It stands one
 * deeper than what caused it and is external if that is; its run has 120 seconds of its own (decisions §5). The report
 * returns to the caller.
 * @throws the refusals of {@link admitCall}, `agent_cannot_take_tasks`; the writes: `too_many_active_runs`
 */
export const delegateTask = async (
  work: Work,
  caller: CallingAgent,
  { agent, audience, title, description, start_now }: DelegateTask,
): Promise<Delegated> => {
  const asked: AgentCall = { kind: 'delegate_task', agent, audience }
  const call = calling(work, caller, asked)
  return auditingRefusals(work, call, async () => {
    const {
      target,
      chain,
      caller: shown,
    } = await admitCall(work, caller, call, ({ installation }) => {
      if (!takesTasks(installation, caller.workspace)) throw fail('agent_cannot_take_tasks')
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
      chain_depth: chain.chain_depth,
      parent_run_id: run_id,
    })
    const started = start_now ? await handTask(work, task, { installation: target.installation }) : undefined
    const target_run_id = started?.run.id ?? null
    return {
      result: {
        task_id: task.id,
        status: task.status,
        agent: target.app.name,
        source: `agent:${target.app.slug}`,
        run_id: target_run_id,
        chain_depth: task.chain_depth,
      },
      writes: [
        ...writes,
        ...(started?.writes ?? markTask(task, work.clock.now())),
        called(work, call, { task_id: task.id, target_run_id, chain_depth: task.chain_depth }),
      ],
      refused: (error) => auditRefusal(work, call, error),
    }
  })
}
