import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { idTime } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, exists, missing, oneOf } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { loadAttachments } from '../conversations/attachments.ts'
import { newMessage } from '../conversations/create.ts'
import type { Conversation } from '../conversations/entity.ts'
import { type MessageView, presentMessage } from '../conversations/schemas.ts'
import type { RunEventType } from '../runs/events.ts'
import { answerTask } from '../tasks/by-person.ts'
import { newParticipant, requireAnswerer } from './answerer.ts'
import { answeringFields, newAnsweringRun, RETRY_CHECK_DELAY } from './answering-run.ts'
import { loadConversationFor, type Speaker } from './chats.ts'
import { type Chat, ChatEntity, WaitingMessageEntity } from './entity.ts'

export interface MessageInput {
  text: string
  /** File ids. */
  attachments: readonly string[]
}

/**
 * Posts a person's message. In a chat it starts the run that answers it, or waits for its turn. In a task's conversation it
 * does the same as `POST /console/tasks/{id}/messages`.
 * @throws `not_found`; `validation_error` for an unknown file; `installation_suspended`, `app_suspended`, `conflict` if the
 *   agent of the conversation won't answer
 */
export const postMessage = async (
  work: Work,
  speaker: Speaker,
  conversationId: string,
  said: MessageInput,
): Promise<MessageView> => {
  const { workspace, user } = speaker
  const { task_id } = await loadConversationFor(work, speaker, conversationId)
  const attachments = await loadAttachments(work, workspace.id, said.attachments)
  if (task_id !== undefined) return answerTask(work, workspace, task_id, user, said.text, attachments)
  // The same for every attempt, so that the message keeps its place in the queue.
  const at = { id: work.id('message'), created_at: work.clock.now() }
  let atLimit = false
  const attempt = async (): Promise<MessageView> => {
    const [conversation, chat] = await Promise.all([
      loadConversationFor(work, speaker, conversationId),
      work.table.get(ChatEntity, { conversation_id: conversationId }),
    ])
    const answerer = await requireAnswerer(work, speaker, conversation)
    const author = { type: 'user' as const, id: user.id, name: user.name }
    const message = { id: at.id, text: said.text, attachments, author }
    const isIdle = !atLimit && chat?.run_id === undefined && (chat?.waiting ?? 0) === 0
    const started = isIdle ? await newAnsweringRun(work, conversation, message, answerer) : undefined
    const spoken = newMessage(work, conversation, {
      ...message,
      at,
      run_id: started?.run.id,
      taker: started && newParticipant(conversation, answerer, idTime(at.id)),
      // The agent chosen now, even while another agent's run is still active.
      listener: answerer.id,
      retried: true,
    })
    const view = presentMessage(spoken.message)
    const moved = started
      ? [...started.writes, startAnswering(work, conversation, started.run)]
      : enqueue(work, conversation, chat, at.id)
    try {
      await work.commit([...spoken.writes, ...moved], view)
    } catch (error) {
      if (!started || !(error instanceof PlatformError) || error.code !== 'too_many_active_runs') throw error
      // The message is stored and answered once the agent is below its limit.
      atLimit = true
      return attempt()
    }
    return view
  }
  return retryOnConflict(attempt)
}

const place = ({ id: conversation_id, workspace_id }: Conversation) => ({ conversation_id, workspace_id })

/** Marks the conversation as answering, if it was idle. */
const startAnswering = (work: Work, conversation: Conversation, run: Parameters<typeof answeringFields>[0]): Write =>
  ChatEntity.upsert(
    { conversation_id: conversation.id },
    { set: { ...place(conversation), waiting: 0, ...answeringFields(run, work.clock.now()) } },
    { where: { run_id: missing, waiting: either(missing, oneOf(0)) } },
  )

/** Queues the message behind the active run, or for an agent that is at its limit. */
const enqueue = (work: Work, conversation: Conversation, chat: Chat | undefined, message_id: string): Write[] => {
  const behind = chat?.run_id !== undefined
  return [
    WaitingMessageEntity.create({ conversation_id: conversation.id, message_id }),
    ChatEntity.upsert(
      { conversation_id: conversation.id },
      {
        set: { ...place(conversation), ...(!behind && { due_at: work.clock.now() + RETRY_CHECK_DELAY }) },
        add: { waiting: 1 },
      },
      // The worker that ends the run takes the waiting messages.
      { where: behind ? { run_id: exists } : { run_id: missing } },
    ),
    ...(behind || (chat?.waiting ?? 0) > 0
      ? []
      : [
          emitEvent<RunEventType>(work.clock, {
            type: 'chat.moved',
            workspace_id: conversation.workspace_id,
            private_to: conversation.user_id,
            data: { conversation_id: conversation.id },
          }),
        ]),
  ]
}
