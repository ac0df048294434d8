import type { Work } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { idTime, newId, stampOf } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, exists, lte, missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { ConversationEntity } from '#shared/work/conversations/index.ts'
import { type Account, AccountEntity, type Thread, ThreadEntity } from '#shared/work/threads/index.ts'
import { answeringRunWrites, budgetSpentWrites, OutsiderBudgetSpent } from './answering-run.ts'
import { KnownMessageEntity, type ThreadMessage, ThreadMessageEntity, ThreadOfChatEntity } from './entity.ts'
import { agentEventWrites, messageWrites } from './new-message.ts'
import { previewOf, touchThread } from './outgoing.ts'
import type { DeletionUpdate, MessageUpdate, ThreadUpdate } from './read-update.ts'

/** The update was already processed. */
class KnownAlready extends Error {
  override name = 'KnownAlready'
}

/**
 * Stores an update of an account's chat in one transaction with its deduplication marks. A message that arrives twice,
 * or after its own edit or deletion, is stored once.
 * @param marks additional writes, such as the update record; throwing {@link KnownAlready} ends processing
 */
export const ingestUpdate = async (
  work: Work,
  account: Account,
  update: ThreadUpdate,
  marks: readonly Write[] = [],
): Promise<void> => {
  try {
    await (update.kind === 'deleted'
      ? takeInDeletion(work, account, update, marks)
      : takeInMessage(work, account, update, marks))
  } catch (error) {
    if (!(error instanceof KnownAlready)) throw error
  }
}

interface Place {
  thread: Thread
  /** True if it isn't stored yet. */
  fresh: boolean
}

const takeInMessage = (work: Work, account: Account, update: MessageUpdate, marks: readonly Write[]): Promise<void> =>
  retryOnConflict(async () => {
    const place = await findOrMakeThread(work, account, update)
    const { thread } = place
    const known = place.fresh
      ? undefined
      : await work.table.get(KnownMessageEntity, { thread_id: thread.id, telegram_message_id: update.messageId })
    if (known) return work.commit([...(await editWrites(work, thread, update, known.message_id)), ...marks])
    const message = messageOf(work, account, thread, update)
    const last_placed = lastPlaced(thread, update, message)
    const writes = [
      ...(place.fresh ? newThread(account, { ...thread, last_message: previewOf(message), last_placed }) : []),
      KnownMessageEntity.create({
        thread_id: thread.id,
        telegram_message_id: update.messageId,
        message_id: message.id,
      }),
      ...(place.fresh ? [ThreadMessageEntity.create(message)] : messageWrites(work, thread, message)),
      ...(place.fresh
        ? []
        : [touchThread(work, thread, message, { ...namesOf(account, update, thread), last_placed })]),
      ...agentEventWrites(work, account, thread, message),
      ...marks,
    ]
    const run = message.direction === 'in' ? await answeringRunWrites(work, account, thread, message) : []
    try {
      await work.commit([...writes, ...run])
    } catch (error) {
      if (error instanceof OutsiderBudgetSpent) return withoutRun(work, account, thread, writes, error)
      // The agent still gets the event about the message.
      if (!(error instanceof PlatformError) || !REFUSED_STARTS.has(error.code)) throw error
      work.log.info('no run for a messenger message because it can’t start now', {
        installation_id: thread.installation_id,
        code: error.code,
      })
      await work.commit(writes)
    }
  })

/** Errors after which a message is stored without a run. */
const REFUSED_STARTS: ReadonlySet<string> = new Set(['too_many_active_runs', 'budget_exceeded'])

class AnnouncedAlready extends Error {}

/** Stores a message that no run answers, because the agent's budget for outsiders is spent. */
const withoutRun = async (
  work: Work,
  account: Account,
  thread: Thread,
  writes: readonly Write[],
  spent: OutsiderBudgetSpent,
): Promise<void> => {
  work.log.info('no run for a messenger message because a budget for outsiders is spent', {
    installation_id: thread.installation_id,
    budget: spent.budget,
  })
  const announcement = budgetSpentWrites(work, account, thread, spent, () => new AnnouncedAlready())
  try {
    await work.commit([...writes, ...announcement])
  } catch (error) {
    if (!(error instanceof AnnouncedAlready)) throw error
    await work.commit(writes)
  }
}

const findOrMakeThread = async (work: Work, account: Account, { chat, date, from }: MessageUpdate): Promise<Place> => {
  const { id: account_id, workspace_id } = account
  const known = await work.table.get(ThreadOfChatEntity, { account_id, chat_id: chat.id })
  const found = known && (await work.table.get(ThreadEntity, { workspace_id, id: known.thread_id }))
  if (found) return { thread: found, fresh: false }
  // The thread's records are being removed.
  if (known) throw new KnownAlready()
  const now = work.clock.now()
  return {
    fresh: true,
    thread: {
      ...stampOf(work.id('thread')),
      workspace_id,
      account_id,
      chat_id: chat.id,
      conversation_id: work.id('conversation'),
      title: chat.title,
      username: chat.username,
      last_message_at: now,
      last_incoming_at: isOwn(account, from) ? undefined : date * SECOND,
    },
  }
}

/** Creates a thread, only while its account is connected. */
const newThread = (account: Account, thread: Thread): Write[] => {
  const { id, workspace_id, conversation_id, account_id, chat_id, title, last_message_at } = thread
  return [
    AccountEntity.check(account, { where: { status: 'active' } }),
    ThreadOfChatEntity.create({ account_id, chat_id, thread_id: id, conversation_id }),
    ThreadEntity.create(thread),
    ConversationEntity.create({
      ...stampOf(conversation_id),
      workspace_id,
      kind: 'person',
      title,
      thread_id: id,
      last_message_at,
    }),
  ]
}

/** Returns true for messages that the account's owner wrote in Telegram. */
const isOwn = ({ kind, telegram_id }: Account, { id }: { id: number }): boolean => kind === 'user' && id === telegram_id

const messageOf = (work: Work, account: Account, thread: Thread, update: MessageUpdate): ThreadMessage => {
  const own = isOwn(account, update.from)
  return {
    ...stampOf(newId('message', placeOf(work.clock.now(), thread, update))),
    conversation_id: thread.conversation_id,
    workspace_id: thread.workspace_id,
    thread_id: thread.id,
    author: own
      ? { type: 'user', id: account.user_id ?? '', name: account.name }
      : { type: 'contact', id: thread.id, name: update.chat.title },
    direction: own ? 'out' : 'in',
    status: own ? 'sent' : 'received',
    content: update.content,
    caption: update.caption,
    text: update.text,
    attachments: [],
    telegram_message_id: update.messageId,
    edited_at: update.editedAt,
    ...(own && { sent_at: update.date * SECOND }),
  }
}

/**
 * Returns the message's position in the thread. Late messages use Telegram's time, which has whole seconds. A message
 * always sorts after those that Telegram numbered before it.
 */
const placeOf = (now: number, { last_placed: last }: Thread, { date, messageId }: MessageUpdate): number => {
  const at = date * SECOND
  const own = now - at < SECOND && now >= at ? now : at + (messageId % SECOND)
  return last && last.telegram_message_id < messageId ? Math.max(own, last.at + 1) : own
}

/** Returns the position that {@link placeOf} needs for the next message, even if this one arrived late. */
const lastPlaced = ({ last_placed: last }: Thread, { messageId }: MessageUpdate, message: ThreadMessage) =>
  last && last.telegram_message_id > messageId ? last : { telegram_message_id: messageId, at: idTime(message.id) }

/** Returns the thread's current names, and the latest incoming time for Telegram's 24-hour limit. */
const namesOf = (
  account: Account,
  { chat, from, date }: MessageUpdate,
  { last_incoming_at }: Thread,
): Partial<Thread> => ({
  title: chat.title,
  username: chat.username,
  ...(!isOwn(account, from) && { last_incoming_at: Math.max(last_incoming_at ?? 0, date * SECOND) }),
})

/** Returns no writes for duplicates, deleted messages and outdated edits. */
const editWrites = async (
  work: Work,
  thread: Thread,
  update: MessageUpdate,
  id: string | undefined,
): Promise<Write[]> => {
  if (id === undefined || update.editedAt === undefined) return []
  const { conversation_id } = thread
  const before = await work.table.get(ThreadMessageEntity, { conversation_id, id })
  if (!before || before.deleted_at !== undefined || (before.edited_at ?? 0) > update.editedAt) return []
  const { text, content, caption, editedAt: edited_at } = update
  const set = { text, content, caption, edited_at }
  return [
    ThreadMessageEntity.update(before, { set }, { where: { edited_at: either(missing, lte(update.editedAt)) } }),
    ...previewWrites(thread, { ...before, ...set }),
  ]
}

const previewWrites = (thread: Thread, message: ThreadMessage): Write[] =>
  thread.last_message?.id === message.id
    ? [ThreadEntity.update(thread, { set: { last_message: previewOf(message) } }, { where: { id: exists } })]
    : []

/** Maximum number of messages per transaction. */
const AT_ONCE = 20

const takeInDeletion = async (
  work: Work,
  account: Account,
  { chatId, messageIds }: DeletionUpdate,
  marks: readonly Write[],
): Promise<void> => {
  const known = await work.table.get(ThreadOfChatEntity, { account_id: account.id, chat_id: chatId })
  if (known) {
    for (let i = 0; i < messageIds.length; i += AT_ONCE) {
      const some = messageIds.slice(i, i + AT_ONCE)
      await retryOnConflict(async () => work.commit(await deletionWrites(work, account.workspace_id, known, some)))
    }
  }
  if (marks.length > 0) await work.commit(marks)
}

const deletionWrites = async (
  work: Work,
  workspace_id: string,
  { thread_id, conversation_id }: { thread_id: string; conversation_id: string },
  ids: readonly number[],
): Promise<Write[]> => {
  const unique = [...new Set(ids)]
  const keys = unique.map((telegram_message_id) => ({ thread_id, telegram_message_id }))
  const [thread, known] = await Promise.all([
    work.table.get(ThreadEntity, { workspace_id, id: thread_id }),
    work.table.getAll(keys.map((key) => KnownMessageEntity.ref(key))),
  ])
  if (!thread) return []
  const now = work.clock.now()
  const writes = await Promise.all(
    keys.map(async (key, i): Promise<Write[]> => {
      const found = known[i]
      // Prevents a message that arrives after its deletion from appearing.
      if (!found) return [KnownMessageEntity.create(key)]
      if (found.message_id === undefined) return []
      const message = await work.table.get(ThreadMessageEntity, { conversation_id, id: found.message_id })
      if (!message || message.deleted_at !== undefined) return []
      const set = { text: '[deleted]', caption: undefined, deleted_at: now }
      return [ThreadMessageEntity.update(message, { set }), ...previewWrites(thread, { ...message, ...set })]
    }),
  )
  return writes.flat()
}

/** Marks an update as processed. If it already was, the mark aborts {@link ingestUpdate}. */
export const oncePerUpdate = (write: Omit<Write, 'otherwise'>): Write => ({
  ...write,
  otherwise: () => new KnownAlready(),
})
