import type { Chat, Conversation, Message } from '../../entities/conversations.ts'
import type { Installation } from '../../entities/installations.ts'
import type { Run } from '../../entities/runs.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { backoff } from '../../table/backoff.ts'
import { ConditionFailed, type Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { newRun } from '../runs/start.ts'

/**
 * A chat answers one message after the other, each with one run, as one talks:
 *
 *     silent ──message──► answering ──run ends, none waits──► silent
 *                          │    ▲
 *                  message waits └──run ends, the oldest waiting one is next
 *
 * `ChatEntity` says where it stands. Its changes are conditions on what was read, so of any number of messages and workers
 * one starts the next run, and one says the answer.
 */

/** The trigger of a run that answers a chat. */
const TRIGGER = 'chat'

/** By when the sweep looks after a chat that answers, and after one whose next message could not be taken up. */
export const LOOK_AFTER_RUN = 10 * MINUTE
export const LOOK_AGAIN = MINUTE

/** Somebody else moved the chat between our read and our write. */
export class ChatMoved extends Error {}
export const chatMoved = (): ChatMoved => new ChatMoved('the chat moved meanwhile')

const MAX_TRIES = 15

/** Tries again what lost against another message or worker. @throws `conflict` where others keep writing */
export const whileChatMoves = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ChatMoved) && !(error instanceof ConditionFailed)) throw error
      if (tries >= MAX_TRIES) {
        throw fail('conflict', {
          message: 'Too many messages come into this chat at the same moment.',
          fix: 'Send the message again.',
          headers: { 'retry-after': '1' },
          cause: error,
        })
      }
      await backoff(Math.min(tries, 5))
    }
  }
}

/** The run that answers a message, for the transaction that begins it. @throws the writes: `too_many_active_runs` */
export const answeringRun = (
  work: Work,
  { id: conversation_id }: Pick<Conversation, 'id'>,
  { id: message_id, text, attachments, author }: Pick<Message, 'id' | 'text' | 'attachments' | 'author'>,
  installation: Installation,
): Promise<{ run: Run; writes: Write[] }> =>
  newRun(work, {
    installation,
    input: { text, attachments, conversation_id, message_id },
    trigger: TRIGGER,
    actor: { id: author.id, name: author.name },
    conversation_id,
    message_id,
    private_to: author.id,
  })

/** The chat's fields while a run answers. */
export const answering = (run: Run, now: number): Partial<Chat> => ({
  run_id: run.id,
  run_installation_id: run.installation_id,
  message_id: run.message_id as string,
  due_at: now + LOOK_AFTER_RUN,
})
