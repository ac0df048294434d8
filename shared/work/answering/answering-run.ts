import type { Installation } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import type { Conversation, Message } from '../conversations/entity.ts'
import type { ChainPosition } from '../runs/chain.ts'
import type { Run } from '../runs/entity.ts'
import { newRun, type PreparedRun } from '../runs/start.ts'
import type { Chat } from './entity.ts'

/**
 * A conversation answers its messages one after the other, each with one run:
 *
 *     idle ──message──► answering ──run ends, none waits──► idle
 *                          │    ▲
 *                  message waits └──run ends, the oldest waiting message is next
 *
 * `ChatEntity` stores the state. Each change is conditional on the state that was read. Of any number of messages and
 * workers, exactly one starts the next run and one posts the answer.
 */

/** The trigger of a run that answers a chat. */
const TRIGGER = 'chat'

/** Time until the sweeper checks a conversation with an active run, and one whose next message couldn't be started. */
export const RUN_CHECK_DELAY = 10 * MINUTE
export const RETRY_CHECK_DELAY = MINUTE

/** Creates the run that answers a message. @throws the writes: `too_many_active_runs` */
export const newAnsweringRun = (
  work: Work,
  { id: conversation_id }: Pick<Conversation, 'id'>,
  { id: message_id, text, attachments, author }: Pick<Message, 'id' | 'text' | 'attachments' | 'author'>,
  installation: Installation,
  { trigger = TRIGGER, chain }: { trigger?: string; chain?: Partial<ChainPosition> | undefined } = {},
): Promise<PreparedRun> =>
  newRun(work, {
    installation,
    input: { text, attachments, conversation_id, message_id },
    trigger,
    actor: { id: author.id, name: author.name },
    conversation_id,
    message_id,
    private_to: author.id,
    chain,
  })

/** Fields of the conversation's state while a run answers. */
export const answeringFields = (run: Run, now: number): Partial<Chat> => ({
  run_id: run.id,
  run_installation_id: run.installation_id,
  message_id: run.message_id as string,
  due_at: now + RUN_CHECK_DELAY,
})
