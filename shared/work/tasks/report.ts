import { canTakeTasks, InstallationEntity, isWorking } from '#shared/access/installations/index.ts'
import { VersionEntity } from '#shared/catalogue/versions/index.ts'
import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Deps, Work, WorkWrite } from '#shared/foundation/work/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newMessage } from '../conversations/create.ts'
import { ConversationEntity } from '../conversations/entity.ts'
import { markTask } from '../runs/chain.ts'
import { type Run, RunEntity } from '../runs/entity.ts'
import { newRun } from '../runs/start.ts'
import type { TaskAgent } from './conversation.ts'
import type { Task } from './entity.ts'
import type { TaskEventType } from './events.ts'
import { releaseResult, storeResult } from './result.ts'
import type { ReportResult } from './schemas.ts'

/**
 * Stores a task's result and returns the result of a delegated task to the agent that delegated it
 * (contract/agent-to-agent.md#delegating-a-task). That agent gets the event `task.result`, and a message in the
 * conversation of the asking run. A messenger thread gets no message, because agents only draft there. The agent's further
 * calls continue the task's chain (contract/agent-to-agent.md#chains).
 * @param wake false to start no run for an inline agent that delegated the task
 * @throws the writes: `too_many_active_runs`, `budget_exceeded`, unless `wake` is false; `chain_budget_exceeded` likewise; `payload_too_large` for an output over 1 MiB
 */
export const storeReport = async (
  work: Work,
  task: Task,
  agent: TaskAgent,
  { text, output }: ReportResult,
  wake: boolean,
): Promise<{ result: NonNullable<Task['result']>; writes: WorkWrite[] }> => {
  const stored = output && (await storeResult(work, task, output))
  return {
    result: { text, at: work.clock.now(), ...(stored && { output: stored.output }) },
    writes: [
      ...(stored?.writes ?? []),
      ...releaseResult(work, task),
      ...(await returnWrites(work, task, agent, { text, output }, wake)),
    ],
  }
}

const returnWrites = async (
  work: Work,
  task: Task,
  agent: TaskAgent,
  report: ReportResult,
  wake: boolean,
): Promise<WorkWrite[]> => {
  const { delegated_by, workspace_id } = task
  if (!delegated_by) return []
  const { installation_id, app_id } = delegated_by
  const event = emitEvent<TaskEventType>(work.clock, {
    type: 'task.result',
    workspace_id,
    installation_id,
    app_id,
    private_to: task.private_to,
    data: { task_id: task.id, status: 'review', text: report.text, output: shortened(report.output) },
  })
  const { installation, app, run } = agent
  // An agent that delegated the task to itself is marked with its own step.
  const marked = installation_id === installation.id ? [] : markTask(task, work.clock.now(), installation_id)
  const asking = await loadAskingRun(work, task, installation_id)
  const conversation = await loadAskingConversation(work, task, asking)
  if (!conversation)
    return [event, ...marked, ...(wake ? await resultRunWrites(work, task, agent, report, asking) : [])]
  const author = { type: 'agent' as const, id: installation.id, name: app.name }
  const message = { author, text: report.text, run_id: run?.id, retried: true as const }
  return [event, ...marked, ...newMessage(work, conversation, message).writes]
}

/** Trigger of a run that brings an inline agent the result of a task that it delegated. */
const TRIGGER = 'task_result'

/**
 * Starts a run of the agent that delegated the task, if it is an inline agent. It gets no events, and no message tells it
 * of the result. The run has the task's depth and audience, and the age of the chain that led to the result, so that agents
 * that delegate to each other come to an end.
 */
const resultRunWrites = async (
  work: Work,
  task: Task,
  { app: reporter, run }: TaskAgent,
  { text, output }: ReportResult,
  asking: Run | undefined,
): Promise<WorkWrite[]> => {
  const { id: task_id, title, workspace_id, delegated_by, chain_depth, audience, actor, private_to } = task
  const [installation, workspace] = await work.table.getAll([
    InstallationEntity.ref({ workspace_id, id: delegated_by?.installation_id ?? '-' }),
    WorkspaceEntity.ref({ id: workspace_id }),
  ] as const)
  if (!installation || !workspace || !isWorking(installation) || !canTakeTasks(installation, workspace)) return []
  const version = await work.table.get(VersionEntity, { app_id: installation.app_id, id: installation.version_id })
  if (version?.runtime_type !== 'inline') return []
  const { writes } = await newRun(work, {
    installation,
    input: { task_id, title, status: 'review', text, output: shortened(output), from: reporter.name, untrusted: true },
    trigger: TRIGGER,
    actor,
    chain: {
      chain_depth,
      // A person who started the task's run began another chain.
      chain_started_at:
        run?.task_id === task_id
          ? (run.chain_started_at ?? run.created_at)
          : (task.chain_started_at ?? task.created_at),
      chain_schedules: run?.task_id === task_id ? run.chain_schedules : task.chain_schedules,
      audience,
      parent_run_id: asking?.id,
      private_to,
    },
    task_id,
  })
  return writes
}

/** Loads the run in which the task was delegated. */
const loadAskingRun = async (
  { table }: Pick<Deps, 'table'>,
  { parent_run_id: id }: Task,
  installation_id: string,
): Promise<Run | undefined> => (id === undefined ? undefined : table.get(RunEntity, { installation_id, id }))

/** Loads the conversation of the asking run, if it has one. */
const loadAskingConversation = async (
  { table }: Pick<Deps, 'table'>,
  { workspace_id }: Task,
  asking: Run | undefined,
) => {
  if (asking?.conversation_id === undefined) return undefined
  const conversation = await table.get(ConversationEntity, { workspace_id, id: asking.conversation_id })
  if (conversation?.kind === 'person') return undefined
  return conversation?.installation_id === asking.installation_id ? conversation : undefined
}

/** Shortens the output for an event, like an answer of `ask_agent`. The task contains the whole output. */
const shortened = (output: Record<string, unknown> | undefined): Record<string, unknown> | null => {
  if (output === undefined) return null
  const text = JSON.stringify(output)
  if (text.length <= LIMITS.agentOutputCharacters) return output
  return { truncated: true, text: text.slice(0, LIMITS.agentOutputCharacters).toWellFormed() }
}
