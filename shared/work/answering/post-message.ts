import type { Installation } from '#shared/access/installations/index.ts'
import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { idTime } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, exists, missing, oneOf } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { loadAttachments } from '../conversations/attachments.ts'
import { newMessage } from '../conversations/create.ts'
import type { Conversation, Message } from '../conversations/entity.ts'
import { type MessageView, presentMessage } from '../conversations/schemas.ts'
import type { RunEventType } from '../runs/events.ts'
import { answerTask } from '../tasks/by-person.ts'
import { loadAnswerer, newParticipant, requireAnswerer, requireMentioned } from './answerer.ts'
import { answeringFields, newAnsweringRun, RETRY_CHECK_DELAY } from './answering-run.ts'
import { loadConversationFor, type Speaker } from './chats.ts'
import { type Chat, ChatEntity, WaitingMessageEntity } from './entity.ts'

export interface MessageInput {
  text: string
  /** File ids. */
  attachments: readonly string[]
  /** Installation of an agent that answers instead of the conversation's own. */
  mention?: string | undefined
}

/**
 * Posts a person's message. In a chat it starts the run that answers it, or waits for its turn. In a task's conversation it
 * does the same as `POST /console/tasks/{id}/messages`.
 * @throws `not_found`; `validation_error` for an unknown file; `installation_suspended`, `app_suspended`, `conflict` if the
 *   agent of the conversation, or the mentioned one, won't answer; `conflict` for a mention in a task's conversation
 */
export const postMessage = async (
  work: Work,
  speaker: Speaker,
  conversationId: string,
  input: MessageInput,
): Promise<MessageView> => {
  const { workspace, user } = speaker
  const { task_id } = await loadConversationFor(work, speaker, conversationId)
  const attachments = await loadAttachments(work, workspace.id, input.attachments)
  if (task_id !== undefined && input.mention !== undefined) {
    throw fail('conflict', {
      message: 'Agents can’t be mentioned in a task’s conversation.',
      fix: 'Hand the task to the agent with POST /console/tasks/{id}/run, or write to it in one of your own conversations.',
    })
  }
  if (task_id !== undefined) return answerTask(work, workspace, task_id, user, input.text, attachments)
  // The same for every attempt, so that the message keeps its place in the queue.
  const id = work.id('message')
  let atLimit = false
  const attempt = async (): Promise<MessageView> => {
    const [conversation, chat] = await Promise.all([
      loadConversationFor(work, speaker, conversationId),
      work.table.get(ChatEntity, { conversation_id: conversationId }),
    ])
    const { answerer, mention, owner } = await chooseAnswerer(work, speaker, conversation, input.mention)
    const author = { type: 'user' as const, id: user.id, name: user.name }
    const message = { id, text: input.text, attachments, author, mention }
    const isIdle = !atLimit && chat?.run_id === undefined && (chat?.waiting ?? 0) === 0
    const started = isIdle ? await newAnsweringRun(work, conversation, message, answerer) : undefined
    const spoken = newMessage(work, conversation, {
      ...message,
      run_id: started?.run.id,
      taker: started && !mention ? newParticipant(conversation, answerer, idTime(id)) : undefined,
      // The agent chosen now, even while another agent's run is still active. A mentioned agent doesn't take part.
      listener: owner,
      retried: true,
    })
    const view = presentMessage(spoken.message)
    try {
      if (started) {
        const writes = [...spoken.writes, ...started.writes, startAnswering(work, conversation, started.run)]
        await work.commit(writes, view)
      } else await work.commit([...spoken.writes, ...enqueue(work, conversation, chat, id)], view)
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

/**
 * Chooses the agent that answers a message: the mentioned one, or the conversation's own.
 * @returns `owner`: the agent whose conversation it is, which sees the message in any case
 */
const chooseAnswerer = async (
  work: Work,
  speaker: Speaker,
  conversation: Conversation,
  mentioned: string | undefined,
): Promise<{ answerer: Installation; mention?: Message['mention']; owner: string | undefined }> => {
  const own = mentioned === undefined ? undefined : await loadAnswerer(work, speaker, conversation)
  if (mentioned === undefined || own?.id === mentioned) {
    const answerer = await requireAnswerer(work, speaker, conversation)
    return { answerer, owner: answerer.id }
  }
  const answerer = await requireMentioned(work, speaker, mentioned)
  return { answerer, mention: { installation_id: answerer.id, name: answerer.app_name }, owner: own?.id }
}

const place = ({ id: conversation_id, workspace_id }: Conversation) => ({ conversation_id, workspace_id })

/** Marks the conversation as answering, if it was idle. */
export const startAnswering = (
  work: Work,
  conversation: Conversation,
  run: Parameters<typeof answeringFields>[0],
): Write =>
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
