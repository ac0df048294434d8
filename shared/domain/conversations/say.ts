import { type Chat, ChatEntity, type Conversation, WaitingMessageEntity } from '../../entities/conversations.ts'
import { tell } from '../../events/outbox.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { idTime } from '../../kernel/ids.ts'
import type { Write } from '../../table/entity.ts'
import { either, exists, missing, oneOf } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { answerTask } from '../tasks/by-person.ts'
import { takerFrom, willingAnswerer } from './answerer.ts'
import { answering, answeringRun, chatMoved, LOOK_AGAIN, whileChatMoves } from './chat.ts'
import { conversationFor, type Speaker } from './chats.ts'
import { newMessage } from './new.ts'
import { type MessageView, presentMessage } from './schemas.ts'
import { attachmentsOf } from './write.ts'

export interface Said {
  text: string
  /** Ids of files. */
  attachments: readonly string[]
}

/**
 * A person's message. In a chat it starts the run that answers it, or waits for its turn; in a task's conversation it is
 * what `POST /console/tasks/{id}/messages` is.
 * @throws `not_found`; `validation_error` for a file that is not there; `installation_suspended`, `app_suspended`,
 *   `conflict` when the agent of the chat will not answer
 */
export const say = async (work: Work, speaker: Speaker, conversationId: string, said: Said): Promise<MessageView> => {
  const { workspace, user } = speaker
  const { task_id } = await conversationFor(work, speaker, conversationId)
  const attachments = await attachmentsOf(work, workspace.id, said.attachments)
  if (task_id !== undefined) return answerTask(work, workspace, task_id, user, said.text, attachments)
  // The same at each try, so that it keeps its place among those that wait.
  const at = { id: work.id('message'), created_at: work.clock.now() }
  let crowded = false
  return whileChatMoves(async () => {
    const [conversation, chat] = await Promise.all([
      conversationFor(work, speaker, conversationId),
      work.table.get(ChatEntity, { conversation_id: conversationId }),
    ])
    const answerer = await willingAnswerer(work, speaker, conversation)
    const author = { type: 'user' as const, id: user.id, name: user.name }
    const message = { id: at.id, text: said.text, attachments, author }
    const free = !crowded && chat?.run_id === undefined && (chat?.waiting ?? 0) === 0
    const started = free ? await answeringRun(work, conversation, message, answerer) : undefined
    const spoken = newMessage(work, conversation, {
      ...message,
      at,
      run_id: started?.run.id,
      taker: started && takerFrom(conversation, answerer, idTime(at.id)),
      // Whoever is chosen by now, also where another one's run is still under way.
      listener: answerer.id,
      moved: chatMoved,
    })
    const view = presentMessage(spoken.message)
    const moved = started
      ? [...started.writes, begins(work, conversation, started.run)]
      : waits(work, conversation, chat, at.id)
    try {
      await work.commit([...spoken.writes, ...moved], view)
    } catch (error) {
      if (!started || !(error instanceof PlatformError) || error.code !== 'too_many_active_runs') throw error
      // It is kept, and answered when the agent has room.
      crowded = true
      throw chatMoved()
    }
    return view
  })
}

const place = ({ id: conversation_id, workspace_id }: Conversation) => ({ conversation_id, workspace_id })

/** The chat answers; only where it was silent. */
const begins = (work: Work, conversation: Conversation, run: Parameters<typeof answering>[0]): Write =>
  ChatEntity.upsert(
    { conversation_id: conversation.id },
    { set: { ...place(conversation), waiting: 0, ...answering(run, work.clock.now()) } },
    { where: { run_id: missing, waiting: either(missing, oneOf(0)) }, otherwise: chatMoved },
  )

/** The message waits: behind a run that is under way, or for an agent that has no room. */
const waits = (work: Work, conversation: Conversation, chat: Chat | undefined, message_id: string): Write[] => {
  const behind = chat?.run_id !== undefined
  return [
    WaitingMessageEntity.create({ conversation_id: conversation.id, message_id }),
    ChatEntity.upsert(
      { conversation_id: conversation.id },
      {
        set: { ...place(conversation), ...(!behind && { due_at: work.clock.now() + LOOK_AGAIN }) },
        add: { waiting: 1 },
      },
      // Whoever ends that run looks for those that wait.
      { where: behind ? { run_id: exists } : { run_id: missing }, otherwise: chatMoved },
    ),
    ...(behind || (chat?.waiting ?? 0) > 0
      ? []
      : [
          tell(work.clock, {
            type: 'chat.moved',
            workspace_id: conversation.workspace_id,
            data: { conversation_id: conversation.id },
          }),
        ]),
  ]
}
