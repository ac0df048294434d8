import {
  type Chat,
  ChatEntity,
  type Conversation,
  ConversationEntity,
  conversationPlace,
  type Message,
  MessageEntity,
  WaitingMessageEntity,
} from '../../entities/conversations.ts'
import { InstallationEntity } from '../../entities/installations.ts'
import { MemberEntity, WorkspaceEntity } from '../../entities/people.ts'
import { ApprovalEntity, isActive, type Run, RunEntity } from '../../entities/runs.ts'
import { wakeChat } from '../../events/queues.ts'
import { MINUTE, SECOND } from '../../kernel/clock.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { derivedId, idTime } from '../../kernel/ids.ts'
import { ifUnchanged, type Key, type Write } from '../../table/entity.ts'
import { exists, missing } from '../../table/expressions.ts'
import type { WorkerWork } from '../deps.ts'
import { loadIdentity } from '../orchestrator/identity.ts'
import { ORCHESTRATOR_APP_ID } from '../orchestrator/principal.ts'
import { answererOf, takerFrom } from './answerer.ts'
import { answering, answeringRun, chatMoved, LOOK_AFTER_RUN, LOOK_AGAIN, whileChatMoves } from './chat.ts'
import type { Speaker } from './chats.ts'
import { newMessage } from './new.ts'
import { askForApproval, failure, type Words, wordsOf } from './words.ts'

/** How long a message waits for an agent that has no room, and how often that is tried. */
const PATIENCE = 15 * MINUTE
const TRY_AGAIN = 5 * SECOND

/**
 * Lets a chat go on: says what the run under way came to, and starts the one for the next message. Woken twice or late, the
 * record says what is to do; after each change whoever is woken next goes on from there.
 * @param again comes back by itself for an agent that has no room; the sweep comes anyway
 */
export const advanceChat = async (work: WorkerWork, conversation_id: string, again = true): Promise<void> => {
  for (;;) {
    const goesOn = await whileChatMoves(async () => {
      const chat = await work.table.get(ChatEntity, { conversation_id })
      if (!chat) return false
      if (chat.run_id !== undefined) return follow(work, chat, chat.run_id)
      return chat.waiting > 0 && takeNext(work, chat, again)
    })
    if (!goesOn) return
  }
}

/** What the sweep does about a chat that nobody woke. */
export const handleOverdueChat = async (work: WorkerWork, key: Key): Promise<void> => {
  const chat = await work.table.getByKey(ChatEntity, key)
  const now = work.clock.now()
  if (!chat || chat.due_at === undefined || chat.due_at > now) return
  // What another worker does about it meanwhile, it does for good.
  await whileChatMoves(async () => {
    const current = await work.table.getByKey(ChatEntity, key)
    if (!current || current.due_at !== chat.due_at) return
    await work.commit([changed(current, { due_at: isOpen(current) ? now + LOOK_AGAIN : undefined })])
  })
  await advanceChat(work, chat.conversation_id, false)
}

const isOpen = ({ run_id, waiting }: Chat): boolean => run_id !== undefined || waiting > 0

/** The condition that the chat is as it was read. */
const standing = ({ run_id, waiting }: Chat) => ({ run_id: run_id ?? missing, waiting })

const changed = (chat: Chat, set: { [F in keyof Chat]?: Chat[F] | undefined }, add?: { waiting: number }): Write =>
  ChatEntity.update(chat, { set, ...(add && { add }) }, { where: standing(chat), otherwise: chatMoved })

const conversationOf = ({ table }: Pick<WorkerWork, 'table'>, { workspace_id, conversation_id }: Chat) =>
  table.get(ConversationEntity, { workspace_id, id: conversation_id })

/** Looks after the run that answers. @returns whether there is more to do at once */
const follow = async (work: WorkerWork, chat: Chat, runId: string): Promise<boolean> => {
  const installation_id = chat.run_installation_id as string
  const [run, conversation] = await Promise.all([
    work.table.get(RunEntity, { installation_id, id: runId }),
    conversationOf(work, chat),
  ])
  if (run && isActive(run.status)) {
    if (conversation && run.status === 'awaiting_approval') await sayThatItWaits(work, conversation, run)
    await work.commit([changed(chat, { due_at: work.clock.now() + LOOK_AFTER_RUN })])
    return false
  }
  const words = run && (await wordsOf(work, run))
  const said = run && conversation && words ? await says(work, conversation, run, words) : []
  await work.commit([
    ...said,
    changed(chat, {
      run_id: undefined,
      run_installation_id: undefined,
      message_id: undefined,
      due_at: chat.waiting > 0 ? work.clock.now() + LOOK_AGAIN : undefined,
    }),
  ])
  return chat.waiting > 0
}

/** Who speaks for a run. */
const authorOf = async (
  work: WorkerWork,
  run: Pick<Run, 'app_id' | 'installation_id' | 'workspace_id'>,
): Promise<Message['author']> => {
  const { app_id, installation_id: id, workspace_id } = run
  if (app_id === ORCHESTRATOR_APP_ID) return { type: 'orchestrator', id, name: (await loadIdentity(work)).name }
  const installation = await work.table.get(InstallationEntity, { workspace_id, id })
  return { type: 'agent', id, name: installation?.app_name ?? 'The agent' }
}

/** A time that is behind the message that the run answers, also within the same millisecond. */
const after = ({ message_id }: Pick<Run, 'message_id'>, at: number): number =>
  message_id === undefined ? at : Math.max(at, idTime(message_id) + 1)

const says = async (work: WorkerWork, conversation: Conversation, run: Run, words: Words): Promise<Write[]> => {
  // Behind all that was said before, also within the same millisecond.
  const created_at = Math.max(run.finished_at ?? run.created_at, (conversation.last_message_at ?? 0) + 1)
  const id = derivedId('message', created_at, `answer\n${run.id}`)
  const author = await authorOf(work, run)
  const spoken = { author, ...words, run_id: run.id, at: { id, created_at }, moved: chatMoved }
  return newMessage(work, conversation, spoken).writes
}

/** Says once for each approval that it waits for the person. */
const sayThatItWaits = async (work: WorkerWork, conversation: Conversation, run: Run): Promise<void> => {
  const step_id = run.pending_step
  const approval = step_id === undefined ? undefined : await work.table.get(ApprovalEntity, { run_id: run.id, step_id })
  if (!approval) return
  const { tool } = approval
  const created_at = after(run, approval.created_at)
  const id = derivedId('message', created_at, `approval\n${approval.step_id}`)
  if (await work.table.get(MessageEntity, { conversation_id: conversation.id, id })) return
  const { writes } = newMessage(work, conversation, {
    author: await authorOf(work, run),
    text: askForApproval(work.settings.baseUrl, run, tool),
    run_id: run.id,
    approval: { step_id: approval.step_id, tool },
    at: { id, created_at },
    moved: chatMoved,
  })
  // Or another worker says it in the same moment.
  await ifUnchanged(work.commit(writes))
}

/** Takes the oldest message up that waits. @returns whether there is more to do at once */
const takeNext = async (work: WorkerWork, chat: Chat, again: boolean): Promise<boolean> => {
  const { conversation_id } = chat
  const { items } = await work.table.query(WaitingMessageEntity, { conversation_id }, { limit: 1, ascending: true })
  const [next] = items
  if (!next) {
    await work.commit([changed(chat, { waiting: 0, due_at: undefined })])
    return false
  }
  const taken = WaitingMessageEntity.delete(next, { where: { message_id: exists }, otherwise: chatMoved })
  const asked = await askedIn(work, chat, next.message_id)
  if (!asked) {
    await work.commit([taken, oneLess(work, chat)])
    return true
  }
  const { conversation, message, speaker } = asked
  const answerer = await answererOf(work, speaker, conversation)
  const now = work.clock.now()
  if (!answerer) return dropWith(work, chat, taken, asked, failure('installation_revoked', ''))
  const { run, writes } = await answeringRun(work, conversation, message, answerer)
  const taker = takerFrom(conversation, answerer, idTime(message.id))
  try {
    await work.commit([
      ...writes,
      taken,
      changed(chat, answering(run, now), { waiting: -1 }),
      MessageEntity.update(message, { set: { run_id: run.id } }),
      ...(taker ? [handedOver(conversation, taker)] : []),
    ])
    return false
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'too_many_active_runs') throw error
  }
  if (now - message.created_at > PATIENCE)
    return dropWith(work, chat, taken, asked, failure('too_many_active_runs', ''))
  await work.commit([changed(chat, { due_at: now + LOOK_AGAIN })])
  if (again) await work.queues.send('dispatch', [{ body: wakeChat(chat), delayMs: TRY_AGAIN, group: conversation.id }])
  return false
}

/** One message less that waits, without a run. */
const oneLess = ({ clock }: Pick<WorkerWork, 'clock'>, chat: Chat): Write =>
  changed(chat, { due_at: chat.waiting > 1 ? clock.now() + LOOK_AGAIN : undefined }, { waiting: -1 })

interface Asked {
  conversation: Conversation
  message: Message
  speaker: Speaker
}

/** A message that waits, and who wrote it; undefined when the chat is gone, or its person has left the workspace. */
const askedIn = async (
  { table }: Pick<WorkerWork, 'table'>,
  { workspace_id, conversation_id }: Chat,
  message_id: string,
): Promise<Asked | undefined> => {
  const [conversation, message, workspace] = await table.getAll([
    { entity: ConversationEntity, key: ConversationEntity.key({ workspace_id, id: conversation_id }) },
    { entity: MessageEntity, key: MessageEntity.key({ conversation_id, id: message_id }) },
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspace_id }) },
  ] as const)
  if (!conversation || !message || !workspace) return undefined
  const member = await table.get(MemberEntity, { workspace_id, user_id: message.author.id })
  if (!member) return undefined
  return { conversation, message, speaker: { workspace, user: { id: message.author.id, name: message.author.name } } }
}

/** Gives a message up, and says so. */
const dropWith = async (
  work: WorkerWork,
  chat: Chat,
  taken: Write,
  { conversation, message }: Asked,
  words: Words,
): Promise<boolean> => {
  const { workspace_id, installation_id = '' } = conversation
  const author = await authorOf(work, { app_id: '', installation_id, workspace_id })
  const { writes } = newMessage(work, conversation, { author, ...words, moved: chatMoved })
  await work.commit([
    ...writes,
    taken,
    oneLess(work, chat),
    MessageEntity.update(message, { set: { error_code: words.error_code } }),
  ])
  return true
}

const handedOver = (conversation: Conversation, taker: NonNullable<ReturnType<typeof takerFrom>>): Write => {
  const list = conversationPlace({ ...conversation, ...taker })
  return ConversationEntity.update(
    conversation,
    { set: taker, ...(list && { list }) },
    { where: { installation_id: conversation.installation_id ?? missing }, otherwise: chatMoved },
  )
}
