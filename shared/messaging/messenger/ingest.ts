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
  news: ThreadUpdate,
  marks: readonly Write[] = [],
): Promise<void> => {
  try {
    await (news.kind === 'deleted'
      ? takeInDeletion(work, account, news, marks)
      : takeInMessage(work, account, news, marks))
  } catch (error) {
    if (!(error instanceof KnownAlready)) throw error
  }
}

interface Place {
  dialog: Thread
  /** True if it isn't stored yet. */
  fresh: boolean
}

const takeInMessage = (work: Work, account: Account, news: MessageUpdate, marks: readonly Write[]): Promise<void> =>
  retryOnConflict(async () => {
    const place = await dialogFor(work, account, news)
    const { dialog } = place
    const known = place.fresh
      ? undefined
      : await work.table.get(KnownMessageEntity, { dialog_id: dialog.id, telegram_message_id: news.messageId })
    if (known) return work.commit([...(await editWrites(work, dialog, news, known.message_id)), ...marks])
    const message = messageOf(work, account, dialog, news)
    const last_placed = lastPlaced(dialog, news, message)
    const writes = [
      ...(place.fresh ? newDialog(account, { ...dialog, last_message: previewOf(message), last_placed }) : []),
      KnownMessageEntity.create({
        dialog_id: dialog.id,
        telegram_message_id: news.messageId,
        message_id: message.id,
      }),
      ...(place.fresh ? [ThreadMessageEntity.create(message)] : messageWrites(work, dialog, message)),
      ...(place.fresh ? [] : [touchThread(work, dialog, message, { ...namesOf(account, news, dialog), last_placed })]),
      ...agentEventWrites(work, account, dialog, message),
      ...marks,
    ]
    const run = message.direction === 'in' ? await answeringRunWrites(work, account, dialog, message) : []
    try {
      await work.commit([...writes, ...run])
    } catch (error) {
      if (error instanceof OutsiderBudgetSpent) return withoutRun(work, account, dialog, writes, error)
      // The agent still gets the event about the message.
      if (!(error instanceof PlatformError) || !REFUSED_STARTS.has(error.code)) throw error
      work.log.info('no run for a messenger message because it can’t start now', {
        installation_id: dialog.installation_id,
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
  dialog: Thread,
  writes: readonly Write[],
  spent: OutsiderBudgetSpent,
): Promise<void> => {
  work.log.info('no run for a messenger message because a budget for outsiders is spent', {
    installation_id: dialog.installation_id,
    budget: spent.budget,
  })
  const announcement = budgetSpentWrites(work, account, dialog, spent, () => new AnnouncedAlready())
  try {
    await work.commit([...writes, ...announcement])
  } catch (error) {
    if (!(error instanceof AnnouncedAlready)) throw error
    await work.commit(writes)
  }
}

const dialogFor = async (work: Work, account: Account, { chat, date, from }: MessageUpdate): Promise<Place> => {
  const { id: account_id, workspace_id } = account
  const known = await work.table.get(ThreadOfChatEntity, { account_id, chat_id: chat.id })
  const found = known && (await work.table.get(ThreadEntity, { workspace_id, id: known.dialog_id }))
  if (found) return { dialog: found, fresh: false }
  // The thread's records are being removed.
  if (known) throw new KnownAlready()
  const now = work.clock.now()
  return {
    fresh: true,
    dialog: {
      ...stampOf(work.id('dialog')),
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
const newDialog = (account: Account, dialog: Thread): Write[] => {
  const { id, workspace_id, conversation_id, account_id, chat_id, title, last_message_at } = dialog
  return [
    AccountEntity.check(account, { where: { status: 'active' } }),
    ThreadOfChatEntity.create({ account_id, chat_id, dialog_id: id, conversation_id }),
    ThreadEntity.create(dialog),
    ConversationEntity.create({
      ...stampOf(conversation_id),
      workspace_id,
      kind: 'person',
      title,
      dialog_id: id,
      last_message_at,
    }),
  ]
}

/** Returns true for messages that the account's owner wrote in Telegram. */
const isOwn = ({ kind, telegram_id }: Account, { id }: { id: number }): boolean => kind === 'user' && id === telegram_id

const messageOf = (work: Work, account: Account, dialog: Thread, news: MessageUpdate): ThreadMessage => {
  const own = isOwn(account, news.from)
  return {
    ...stampOf(newId('message', placeOf(work.clock.now(), dialog, news))),
    conversation_id: dialog.conversation_id,
    workspace_id: dialog.workspace_id,
    dialog_id: dialog.id,
    author: own
      ? { type: 'user', id: account.user_id ?? '', name: account.name }
      : { type: 'contact', id: dialog.id, name: news.chat.title },
    direction: own ? 'out' : 'in',
    status: own ? 'sent' : 'received',
    content: news.content,
    caption: news.caption,
    text: news.text,
    attachments: [],
    telegram_message_id: news.messageId,
    edited_at: news.editedAt,
    ...(own && { sent_at: news.date * SECOND }),
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
  dialog: Thread,
  news: MessageUpdate,
  id: string | undefined,
): Promise<Write[]> => {
  if (id === undefined || news.editedAt === undefined) return []
  const { conversation_id } = dialog
  const before = await work.table.get(ThreadMessageEntity, { conversation_id, id })
  if (!before || before.deleted_at !== undefined || (before.edited_at ?? 0) > news.editedAt) return []
  const { text, content, caption, editedAt: edited_at } = news
  const set = { text, content, caption, edited_at }
  return [
    ThreadMessageEntity.update(before, { set }, { where: { edited_at: either(missing, lte(news.editedAt)) } }),
    ...previewWrites(dialog, { ...before, ...set }),
  ]
}

const previewWrites = (dialog: Thread, message: ThreadMessage): Write[] =>
  dialog.last_message?.id === message.id
    ? [ThreadEntity.update(dialog, { set: { last_message: previewOf(message) } }, { where: { id: exists } })]
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
  { dialog_id, conversation_id }: { dialog_id: string; conversation_id: string },
  ids: readonly number[],
): Promise<Write[]> => {
  const unique = [...new Set(ids)]
  const keys = unique.map((telegram_message_id) => ({ dialog_id, telegram_message_id }))
  const [dialog, known] = await Promise.all([
    work.table.get(ThreadEntity, { workspace_id, id: dialog_id }),
    work.table.getAll(keys.map((key) => KnownMessageEntity.ref(key))),
  ])
  if (!dialog) return []
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
      return [ThreadMessageEntity.update(message, { set }), ...previewWrites(dialog, { ...message, ...set })]
    }),
  )
  return writes.flat()
}

/** Marks an update as processed. If it already was, the mark aborts {@link ingestUpdate}. */
export const oncePerUpdate = (write: Omit<Write, 'otherwise'>): Write => ({
  ...write,
  otherwise: () => new KnownAlready(),
})
