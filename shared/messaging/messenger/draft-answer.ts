import { chatRefusal, InstallationEntity, isWorking } from '#shared/access/installations/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { Deps, WorkerWork } from '#shared/foundation/work/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { derivedId, idTime } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { ConversationEntity } from '#shared/work/conversations/index.ts'
import { presentOutput, type Run, RunEntity } from '#shared/work/runs/index.ts'
import { newDraft } from './draft.ts'
import { ThreadMessageEntity } from './entity.ts'

/**
 * Creates a draft from the result of a run that answers a thread message. It uses the output's `text`, or else the
 * output as JSON. If the agent wrote drafts itself during the run, it creates none. The draft's id derives from the
 * run, so there is only one.
 */
export const draftAnswer = async (
  work: WorkerWork,
  { installation_id, run_id }: { installation_id: string; run_id: string },
): Promise<void> => {
  const run = await work.table.get(RunEntity, { installation_id, id: run_id })
  if (run?.status !== 'succeeded' || run.conversation_id === undefined) return
  const { workspace_id, conversation_id, finished_at = run.created_at } = run
  const [conversation, installation, workspace] = await work.table.getAll([
    ConversationEntity.ref({ workspace_id, id: conversation_id }),
    InstallationEntity.ref({ workspace_id, id: installation_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
  ] as const)
  // The agent was removed from the thread or uninstalled while it worked.
  if (conversation?.installation_id !== installation_id || !installation || !isWorking(installation)) return
  if (!workspace || chatRefusal(installation, workspace)) return
  const text = await answerOf(work, run, conversation_id)
  if (text === undefined) return
  // Sorts after the message that it answers, even within the same millisecond.
  const created_at = Math.max(finished_at, (await answeredAt(work, run)) + 1)
  const id = derivedId('message', created_at, `draft\n${run.id}`)
  try {
    const by = { installation, name: installation.app_name, run_id: run.id }
    const { writes } = await newDraft(work, conversation, by, text, id)
    await work.commit(writes)
  } catch (error) {
    // Either an earlier attempt wrote the draft, or the thread was just assigned to another agent, which the next
    // attempt sees.
    if (error instanceof ConditionFailed && error.current !== undefined)
      return await requireDraft(work, conversation_id, id)
    if (!(error instanceof PlatformError) || error.code !== 'not_found') throw error
  }
}

const requireDraft = async ({ table }: Pick<Deps, 'table'>, conversation_id: string, id: string): Promise<void> => {
  const there = await table.get(ThreadMessageEntity, { conversation_id, id })
  if (!there) throw new Error('the thread changed while an answer was being drafted')
}

/** Returns the time of the message that the run answers. */
const answeredAt = async (work: WorkerWork, run: Run): Promise<number> => {
  const { message } = (await loadPayload(work, run.input)) as { message?: { id?: string } }
  return message?.id === undefined ? 0 : idTime(message.id)
}

/** Number of latest messages searched for drafts of the run. */
const LOOKED_THROUGH = 50

const answerOf = async (work: WorkerWork, run: Run, conversation_id: string): Promise<string | undefined> => {
  const output = (await presentOutput(work, run)) ?? {}
  const { text } = output
  if (typeof text === 'string' && text.trim() !== '') return fitting(text)
  if (Object.keys(output).length === 0) return undefined
  const { items } = await work.table.query(ThreadMessageEntity, { conversation_id }, { limit: LOOKED_THROUGH })
  return items.some(({ run_id }) => run_id === run.id) ? undefined : fitting(JSON.stringify(output))
}

const fitting = (text: string): string => {
  const whole = text.trim().toWellFormed()
  return whole.length <= LIMITS.messengerText ? whole : `${truncate(whole, LIMITS.messengerText - 1)}…`
}
