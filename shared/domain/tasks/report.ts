import { ConversationEntity } from '../../entities/conversations.ts'
import { RunEntity } from '../../entities/runs.ts'
import type { Task } from '../../entities/tasks.ts'
import { tell } from '../../events/outbox.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import { newMessage } from '../conversations/new.ts'
import type { Deps, Work } from '../deps.ts'
import { markTask } from '../runs/chain.ts'
import { TaskMoved } from './change.ts'
import type { TaskAgent } from './conversation.ts'
import { releaseResult, storeResult } from './result.ts'
import type { ReportResult } from './schemas.ts'

/**
 * A task's result, kept; and of a delegated task, its way back to the agent that delegated it (specification
 * "delegate_task", rule 6): the event `task.result`, and a message in the conversation of the asking run, unless that is a
 * messenger chat, where an agent only drafts. What that agent does upon it goes on in the task's chain (rule 4).
 * @throws `payload_too_large` for an output over 1 MiB
 */
export const reported = async (
  work: Work,
  task: Task,
  agent: TaskAgent,
  { text, output }: ReportResult,
): Promise<{ result: NonNullable<Task['result']>; writes: Write[] }> => {
  const stored = output && (await storeResult(work, task, output))
  return {
    result: { text, at: work.clock.now(), ...(stored && { output: stored.output }) },
    writes: [
      ...(stored?.writes ?? []),
      ...releaseResult(work, task),
      ...(await returned(work, task, agent, { text, output })),
    ],
  }
}

const returned = async (work: Work, task: Task, agent: TaskAgent, report: ReportResult): Promise<Write[]> => {
  const { delegated_by, workspace_id } = task
  if (!delegated_by) return []
  const { installation_id, app_id } = delegated_by
  const told = tell(work.clock, {
    type: 'task.result',
    workspace_id,
    installation_id,
    app_id,
    data: { task_id: task.id, status: 'review', text: report.text, output: shortened(report.output) },
  })
  const { installation, app, run } = agent
  // An agent that got its own task back is marked with its step.
  const marked = installation_id === installation.id ? [] : markTask(task, work.clock.now(), installation_id)
  const conversation = await askingConversation(work, task, installation_id)
  if (!conversation) return [told, ...marked]
  const author = { type: 'agent' as const, id: installation.id, name: app.name }
  const said = { author, text: report.text, run_id: run?.id, moved: () => new TaskMoved() }
  return [told, ...marked, ...newMessage(work, conversation, said).writes]
}

/** Where the asking run was spoken to, if it was. */
const askingConversation = async ({ table }: Pick<Deps, 'table'>, task: Task, installation_id: string) => {
  if (task.parent_run_id === undefined) return undefined
  const run = await table.get(RunEntity, { installation_id, id: task.parent_run_id })
  if (run?.conversation_id === undefined) return undefined
  const conversation = await table.get(ConversationEntity, {
    workspace_id: task.workspace_id,
    id: run.conversation_id,
  })
  if (conversation?.kind === 'person') return undefined
  return conversation?.installation_id === installation_id ? conversation : undefined
}

/** An event carries what an answer of `ask_agent` would; the whole output is read with the task. */
const shortened = (output: Record<string, unknown> | undefined): Record<string, unknown> | null => {
  if (output === undefined) return null
  const text = JSON.stringify(output)
  if (text.length <= LIMITS.agentOutputCharacters) return output
  return { truncated: true, text: text.slice(0, LIMITS.agentOutputCharacters).toWellFormed() }
}
