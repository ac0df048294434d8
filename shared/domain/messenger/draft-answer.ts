import { ConversationEntity } from '../../entities/conversations.ts'
import { InstallationEntity } from '../../entities/installations.ts'
import { DialogMessageEntity } from '../../entities/messenger.ts'
import { type Run, RunEntity } from '../../entities/runs.ts'
import { beginning } from '../../kernel/beginning.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { derivedId, idTime } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ConditionFailed } from '../../table/entity.ts'
import type { Deps, WorkerWork } from '../deps.ts'
import { loadPayload } from '../payloads.ts'
import { presentOutput } from '../runs/present.ts'
import { newDraft } from './draft.ts'

/**
 * Makes a draft of what a run that answers a messenger message gave: its output's `text`, else the output as JSON, else
 * nothing where the agent wrote drafts of its own in the run. Its id follows from the run, so that there is one.
 */
export const draftAnswer = async (
  work: WorkerWork,
  { installation_id, run_id }: { installation_id: string; run_id: string },
): Promise<void> => {
  const run = await work.table.get(RunEntity, { installation_id, id: run_id })
  if (run?.status !== 'succeeded' || run.conversation_id === undefined) return
  const { workspace_id, conversation_id, finished_at = run.created_at } = run
  const [conversation, installation] = await work.table.getAll([
    { entity: ConversationEntity, key: ConversationEntity.key({ workspace_id, id: conversation_id }) },
    { entity: InstallationEntity, key: InstallationEntity.key({ workspace_id, id: installation_id }) },
  ] as const)
  // Taken off the chat, or uninstalled, while it worked.
  if (conversation?.installation_id !== installation_id || installation?.status !== 'active') return
  const text = await answerOf(work, run, conversation_id)
  if (text === undefined) return
  // Behind the message that it answers, also where both are of the same millisecond.
  const created_at = Math.max(finished_at, (await answeredAt(work, run)) + 1)
  const at = { id: derivedId('message', created_at, `draft\n${run.id}`), created_at }
  try {
    const by = { installation, name: installation.app_name, run_id: run.id }
    const { writes } = await newDraft(work, conversation, by, text, at)
    await work.commit(writes)
  } catch (error) {
    // Drafted by an earlier try, or the chat went to another agent at this moment; then the next try sees that.
    if (error instanceof ConditionFailed && error.current !== undefined)
      return await again(work, conversation_id, at.id)
    if (!(error instanceof PlatformError) || error.code !== 'not_found') throw error
  }
}

const again = async ({ table }: Pick<Deps, 'table'>, conversation_id: string, id: string): Promise<void> => {
  const there = await table.get(DialogMessageEntity, { conversation_id, id })
  if (!there) throw new Error('the chat changed while an answer was drafted')
}

/** When the message was placed that the run was started for. */
const answeredAt = async (work: WorkerWork, run: Run): Promise<number> => {
  const { message } = (await loadPayload(work, run.input)) as { message?: { id?: string } }
  return message?.id === undefined ? 0 : idTime(message.id)
}

/** The latest messages of a chat, among which a run's own are. */
const LOOKED_THROUGH = 50

const answerOf = async (work: WorkerWork, run: Run, conversation_id: string): Promise<string | undefined> => {
  const output = (await presentOutput(work, run)) ?? {}
  const { text } = output
  if (typeof text === 'string' && text.trim() !== '') return fitting(text)
  if (Object.keys(output).length === 0) return undefined
  const { items } = await work.table.query(DialogMessageEntity, { conversation_id }, { limit: LOOKED_THROUGH })
  return items.some(({ run_id }) => run_id === run.id) ? undefined : fitting(JSON.stringify(output))
}

const fitting = (text: string): string => {
  const whole = text.trim().toWellFormed()
  return whole.length <= LIMITS.messengerText ? whole : `${beginning(whole, LIMITS.messengerText - 1)}…`
}
