import { chatRefusal, type Installation, InstallationEntity } from '#shared/access/installations/index.ts'
import { loadIdentity, ORCHESTRATOR_APP_ID } from '#shared/access/orchestrator/index.ts'
import type { WorkerWork, WorkWrite } from '#shared/foundation/work/index.ts'
import { findMember, type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { derivedId, idTime } from '#shared/kernel/ids.ts'
import { ifUnchanged, type Key, type Write } from '#shared/table/entity.ts'
import { exists, missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { newMessage } from '../conversations/create.ts'
import {
  type Conversation,
  ConversationEntity,
  conversationPlace,
  type Message,
  MessageEntity,
} from '../conversations/entity.ts'
import { listWaitingSteps } from '../questions/index.ts'
import { ApprovalEntity, type Run, RunEntity } from '../runs/entity.ts'
import { isWaitingForInput } from '../runs/slots.ts'
import { isActive } from '../runs/status.ts'
import { loadAnswerer, newParticipant } from './answerer.ts'
import { answeringFields, newAnsweringRun, RETRY_CHECK_DELAY, RUN_CHECK_DELAY } from './answering-run.ts'
import type { Speaker } from './chats.ts'
import { type Chat, ChatEntity, WaitingMessageEntity } from './entity.ts'
import { approvalRequestText, composeRunMessage, failureMessage, type RunMessage } from './run-message.ts'
import { chatMessage } from './wake.ts'

/** Longest wait of a message for an agent that is at its limit of active runs, and the interval between attempts. */
const LONGEST_WAIT = 15 * MINUTE
const RETRY_DELAY = 5 * SECOND

/**
 * Advances a conversation: posts the result of its run, then starts a run for the next message. The record says what is
 * due, so duplicate and late calls do no harm. After each change, the next call continues from the record.
 * @param again schedules another attempt if the agent is at its limit; the sweeper retries in any case
 */
export const advanceChat = async (work: WorkerWork, conversation_id: string, again = true): Promise<void> => {
  for (;;) {
    const hasMore = await retryOnConflict(async () => {
      const chat = await work.table.get(ChatEntity, { conversation_id })
      if (!chat) return false
      if (chat.run_id !== undefined) return follow(work, chat, chat.run_id)
      return chat.waiting > 0 && takeNext(work, chat, again)
    })
    if (!hasMore) return
  }
}

/** Advances an overdue conversation for the sweeper. */
export const handleOverdueChat = async (work: WorkerWork, key: Key): Promise<void> => {
  const chat = await work.table.getByKey(ChatEntity, key)
  const now = work.clock.now()
  if (!chat || chat.due_at === undefined || chat.due_at > now) return
  // If another worker advances it first, nothing is left to do here.
  await retryOnConflict(async () => {
    const current = await work.table.getByKey(ChatEntity, key)
    if (!current || current.due_at !== chat.due_at) return
    await work.commit([changed(current, { due_at: isOpen(current) ? now + RETRY_CHECK_DELAY : undefined })])
  })
  await advanceChat(work, chat.conversation_id, false)
}

const isOpen = ({ run_id, waiting }: Chat): boolean => run_id !== undefined || waiting > 0

/** Condition that the record hasn't changed since it was read. */
const unchanged = ({ run_id, waiting }: Chat) => ({ run_id: run_id ?? missing, waiting })

const changed = (chat: Chat, set: { [F in keyof Chat]?: Chat[F] | undefined }, add?: { waiting: number }): Write =>
  ChatEntity.update(chat, { set, ...(add && { add }) }, { where: unchanged(chat) })

const loadConversation = ({ table }: Pick<WorkerWork, 'table'>, { workspace_id, conversation_id }: Chat) =>
  table.get(ConversationEntity, { workspace_id, id: conversation_id })

/** Follows the run that answers. @returns true if there is more to do now */
const follow = async (work: WorkerWork, chat: Chat, runId: string): Promise<boolean> => {
  const installation_id = chat.run_installation_id as string
  const [run, conversation] = await Promise.all([
    work.table.get(RunEntity, { installation_id, id: runId }),
    loadConversation(work, chat),
  ])
  if (run && isActive(run.status)) {
    if (conversation && run.status === 'awaiting_approval') await postApprovalRequest(work, conversation, run)
    if (conversation && isWaitingForInput(run)) await postQuestions(work, conversation, run)
    await work.commit([changed(chat, { due_at: work.clock.now() + RUN_CHECK_DELAY })])
    return false
  }
  const words = run && ((await wordsOfRefusal(work, run)) ?? (await composeRunMessage(work, run)))
  const posts = run && conversation && words ? await resultWrites(work, conversation, run, words) : []
  await work.commit([
    ...posts,
    changed(chat, {
      run_id: undefined,
      run_installation_id: undefined,
      message_id: undefined,
      due_at: chat.waiting > 0 ? work.clock.now() + RETRY_CHECK_DELAY : undefined,
    }),
  ])
  return chat.waiting > 0
}

/** Returns why the agent may not speak now. An answer that it gave before a ban isn't posted after the ban. */
const wordsOfRefusal = async (
  { table }: Pick<WorkerWork, 'table'>,
  { app_id, installation_id: id, workspace_id, status }: Run,
): Promise<RunMessage | undefined> => {
  if (app_id === ORCHESTRATOR_APP_ID || status !== 'succeeded') return undefined
  const [installation, workspace] = await table.getAll([
    InstallationEntity.ref({ workspace_id, id }),
    WorkspaceEntity.ref({ id: workspace_id }),
  ] as const)
  return installation && workspace && refusalMessage(installation, workspace)
}

const refusalMessage = (installation: Installation, workspace: Workspace): RunMessage | undefined => {
  const refusal = installation.app_id === ORCHESTRATOR_APP_ID ? undefined : chatRefusal(installation, workspace)
  return refusal && failureMessage(refusal.code, refusal.message)
}

/** Loads the author of a run's messages. */
const loadAuthor = async (
  work: WorkerWork,
  run: Pick<Run, 'app_id' | 'installation_id' | 'workspace_id'>,
): Promise<Message['author']> => {
  const { app_id, installation_id: id, workspace_id } = run
  if (app_id === ORCHESTRATOR_APP_ID) return { type: 'orchestrator', id, name: (await loadIdentity(work)).name }
  const installation = await work.table.get(InstallationEntity, { workspace_id, id })
  return { type: 'agent', id, name: installation?.app_name ?? 'The agent' }
}

/** Returns a time after the message that the run answers, even within the same millisecond. */
const after = ({ message_id }: Pick<Run, 'message_id'>, at: number): number =>
  message_id === undefined ? at : Math.max(at, idTime(message_id) + 1)

const resultWrites = async (
  work: WorkerWork,
  conversation: Conversation,
  run: Run,
  words: RunMessage,
): Promise<WorkWrite[]> => {
  // After all earlier messages, even within the same millisecond.
  const created_at = Math.max(run.finished_at ?? run.created_at, (conversation.last_message_at ?? 0) + 1)
  const id = derivedId('message', created_at, `answer\n${run.id}`)
  const author = await loadAuthor(work, run)
  const spoken = { author, ...words, run_id: run.id, id, retried: true as const }
  return newMessage(work, conversation, spoken).writes
}

/** Posts a message once for each approval that waits for the person. */
const postApprovalRequest = async (work: WorkerWork, conversation: Conversation, run: Run): Promise<void> => {
  const step_id = run.pending_step
  const approval = step_id === undefined ? undefined : await work.table.get(ApprovalEntity, { run_id: run.id, step_id })
  if (!approval) return
  const { tool } = approval
  const created_at = after(run, approval.created_at)
  const id = derivedId('message', created_at, `approval\n${approval.step_id}`)
  if (await work.table.get(MessageEntity, { conversation_id: conversation.id, id })) return
  const { writes } = newMessage(work, conversation, {
    author: await loadAuthor(work, run),
    text: approvalRequestText(work.settings.baseUrl, run, approval),
    run_id: run.id,
    approval: { step_id: approval.step_id, tool },
    id,
    retried: true,
  })
  // Another worker may post it at the same time.
  await ifUnchanged(work.commit(writes))
}

/** Posts a message once for each step whose questions wait for the person. */
const postQuestions = async (work: WorkerWork, conversation: Conversation, run: Run): Promise<void> => {
  for (const { step_id, text, created_at: asked_at } of await listWaitingSteps(work, run)) {
    const created_at = after(run, asked_at)
    const id = derivedId('message', created_at, `question\n${step_id}`)
    if (await work.table.get(MessageEntity, { conversation_id: conversation.id, id })) continue
    const { writes } = newMessage(work, conversation, {
      author: await loadAuthor(work, run),
      text,
      run_id: run.id,
      question: { step_id },
      id,
      retried: true,
    })
    // Another worker may post it at the same time.
    await ifUnchanged(work.commit(writes))
  }
}

/** Takes the oldest waiting message. @returns true if there is more to do now */
const takeNext = async (work: WorkerWork, chat: Chat, again: boolean): Promise<boolean> => {
  const { conversation_id } = chat
  const { items } = await work.table.query(WaitingMessageEntity, { conversation_id }, { limit: 1, ascending: true })
  const [next] = items
  if (!next) {
    await work.commit([changed(chat, { waiting: 0, due_at: undefined })])
    return false
  }
  const taken = WaitingMessageEntity.delete(next, { where: { message_id: exists } })
  const pending = await loadPending(work, chat, next.message_id)
  if (!pending) {
    await work.commit([taken, removeFromQueue(work, chat)])
    return true
  }
  const { conversation, message, speaker } = pending
  const { mention } = message
  const answerer = mention
    ? await work.table.get(InstallationEntity, { workspace_id: chat.workspace_id, id: mention.installation_id })
    : await loadAnswerer(work, speaker, conversation)
  const now = work.clock.now()
  if (!answerer) return dropMessage(work, chat, taken, pending, failureMessage('installation_revoked', ''))
  const refused = refusalMessage(answerer, speaker.workspace)
  if (refused) return dropMessage(work, chat, taken, pending, refused)
  const started = await newAnsweringRun(work, conversation, message, answerer)
  const { run } = started
  const taker = mention ? undefined : newParticipant(conversation, answerer, idTime(message.id))
  try {
    const writes = [
      ...started.writes,
      taken,
      changed(chat, answeringFields(run, now), { waiting: -1 }),
      MessageEntity.update(message, { set: { run_id: run.id } }),
      ...(taker ? [handoverWrite(conversation, taker)] : []),
    ]
    await work.commit(writes)
    return false
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'budget_exceeded')
      return dropMessage(work, chat, taken, pending, failureMessage('budget_exceeded', error.message))
    if (error.code !== 'too_many_active_runs') throw error
  }
  if (now - message.created_at > LONGEST_WAIT)
    return dropMessage(work, chat, taken, pending, failureMessage('too_many_active_runs', ''))
  await work.commit([changed(chat, { due_at: now + RETRY_CHECK_DELAY })])
  if (again)
    await work.queues.send('dispatch', [
      { body: chatMessage(conversation_id), delayMs: RETRY_DELAY, group: conversation_id },
    ])
  return false
}

/** Removes a waiting message from the count without starting a run. */
const removeFromQueue = ({ clock }: Pick<WorkerWork, 'clock'>, chat: Chat): Write =>
  changed(chat, { due_at: chat.waiting > 1 ? clock.now() + RETRY_CHECK_DELAY : undefined }, { waiting: -1 })

interface PendingMessage {
  conversation: Conversation
  message: Message
  speaker: Speaker
}

/** Loads a waiting message and its author; undefined if the conversation is deleted or the author left the workspace. */
const loadPending = async (
  deps: Pick<WorkerWork, 'table' | 'clock'>,
  { workspace_id, conversation_id }: Chat,
  message_id: string,
): Promise<PendingMessage | undefined> => {
  const [conversation, message, workspace] = await deps.table.getAll([
    ConversationEntity.ref({ workspace_id, id: conversation_id }),
    MessageEntity.ref({ conversation_id, id: message_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
  ] as const)
  if (!conversation || !message || !workspace) return undefined
  const member = await findMember(deps, workspace_id, message.author.id)
  if (!member) return undefined
  return { conversation, message, speaker: { workspace, user: { id: message.author.id, name: message.author.name } } }
}

/** Drops a waiting message and posts the reason. */
const dropMessage = async (
  work: WorkerWork,
  chat: Chat,
  taken: Write,
  { conversation, message }: PendingMessage,
  words: RunMessage,
): Promise<boolean> => {
  const { workspace_id } = conversation
  const installation_id = message.mention?.installation_id ?? conversation.installation_id ?? ''
  const author = await loadAuthor(work, { app_id: '', installation_id, workspace_id })
  const { writes } = newMessage(work, conversation, { author, ...words, retried: true })
  await work.commit([
    ...writes,
    taken,
    removeFromQueue(work, chat),
    MessageEntity.update(message, { set: { error_code: words.error_code } }),
  ])
  return true
}

const handoverWrite = (conversation: Conversation, taker: NonNullable<ReturnType<typeof newParticipant>>): Write => {
  const list = conversationPlace({ ...conversation, ...taker })
  return ConversationEntity.update(
    conversation,
    { set: taker, ...(list && { list }) },
    { where: { installation_id: conversation.installation_id ?? missing } },
  )
}
