import { type Installation, requireChatScopes } from '#shared/access/installations/index.ts'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { newMessage } from '../conversations/create.ts'
import type { ChainPosition } from '../runs/chain.ts'
import type { PreparedRun } from '../runs/start.ts'
import { newAnsweringRun } from './answering-run.ts'
import { openAgentChat, type Speaker } from './chats.ts'
import { ChatEntity } from './entity.ts'
import { startAnswering } from './post-message.ts'

/**
 * Prepares a person's message in their conversation with an agent, and the run that answers it.
 * Creates the conversation if there is none.
 * @throws `access_withdrawn`; `conflict` for an agent that may not answer, and while the conversation is being answered
 */
export const newMessageRun = async (
  work: Work,
  speaker: Speaker,
  installation: Installation,
  { text, trigger, chain }: { text: string; trigger: string; chain?: Partial<ChainPosition> | undefined },
): Promise<PreparedRun> => {
  requireChatScopes(installation, speaker.workspace)
  const conversation = await openAgentChat(withoutAnswer(work), speaker, installation.id)
  const chat = await work.table.get(ChatEntity, { conversation_id: conversation.id })
  if (chat?.run_id !== undefined || (chat?.waiting ?? 0) > 0) {
    throw fail('conflict', {
      message: 'The agent is still answering in this conversation.',
      fix: 'Wait for its answer, then try again.',
    })
  }
  const { id, name } = speaker.user
  const author = { type: 'user' as const, id, name }
  const message = { id: work.id('message'), text, attachments: [], author }
  const started = await newAnsweringRun(work, conversation, message, installation, { trigger, chain })
  const { writes } = newMessage(work, conversation, { ...message, run_id: started.run.id, retried: true })
  return { ...started, writes: [...writes, ...started.writes, startAnswering(work, conversation, started.run)] }
}
