import { ConversationEntity } from '../../entities/conversations.ts'
import {
  type Account,
  AccountEntity,
  type Dialog,
  DialogEntity,
  type DialogMessage,
  DialogMessageEntity,
  DialogOfChatEntity,
  KnownMessageEntity,
} from '../../entities/messenger.ts'
import { SECOND } from '../../kernel/clock.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { idTime, newId } from '../../kernel/ids.ts'
import type { Write } from '../../table/entity.ts'
import { either, exists, lte, missing } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import { answeringRun } from './answering-run.ts'
import { messageWrites, toldAgent } from './new-message.ts'
import { previewOf, touchDialog } from './outgoing.ts'
import type { DeletedNews, MessageNews, News } from './read-update.ts'

/** What came was taken in before. */
class KnownAlready extends Error {
  override name = 'KnownAlready'
}

/**
 * Takes in what Telegram tells of an account's chat, in one transaction with the marks that it was taken. A message that
 * comes twice, or after its own edit or deletion, is the same message.
 * @param marks writes that go along, such as that the update is done; throwing {@link KnownAlready} ends it
 */
export const takeIn = async (work: Work, account: Account, news: News, marks: readonly Write[] = []): Promise<void> => {
  try {
    await (news.kind === 'deleted'
      ? takeInDeletion(work, account, news, marks)
      : takeInMessage(work, account, news, marks))
  } catch (error) {
    if (!(error instanceof KnownAlready)) throw error
  }
}

interface Place {
  dialog: Dialog
  /** Not written yet. */
  fresh: boolean
}

const takeInMessage = (work: Work, account: Account, news: MessageNews, marks: readonly Write[]): Promise<void> =>
  tryAgain(async () => {
    const place = await dialogFor(work, account, news)
    const { dialog } = place
    const known = place.fresh
      ? undefined
      : await work.table.get(KnownMessageEntity, { dialog_id: dialog.id, telegram_message_id: news.messageId })
    if (known) return commit(work, [...(await editWrites(work, dialog, news, known.message_id)), ...marks])
    const message = messageOf(work, account, dialog, news)
    const last_placed = lastPlaced(dialog, news, message)
    const writes = [
      ...(place.fresh ? newDialog(account, { ...dialog, last_message: previewOf(message), last_placed }) : []),
      KnownMessageEntity.create({
        dialog_id: dialog.id,
        telegram_message_id: news.messageId,
        message_id: message.id,
      }),
      ...(place.fresh ? [DialogMessageEntity.create(message)] : messageWrites(work, dialog, message)),
      ...(place.fresh ? [] : [touchDialog(work, dialog, message, { ...namesOf(account, news, dialog), last_placed })]),
      ...toldAgent(work, account, dialog, message),
      ...marks,
    ]
    const run = message.direction === 'in' ? await answeringRun(work, account, dialog, message) : []
    try {
      await commit(work, [...writes, ...run])
    } catch (error) {
      // The agent is told of the message all the same.
      if (!(error instanceof PlatformError) || error.code !== 'too_many_active_runs') throw error
      work.log.info('no run for a messenger message: the agent has five', { installation_id: dialog.installation_id })
      await commit(work, writes)
    }
  })

const commit = (work: Work, writes: readonly Write[]): Promise<void> => work.table.transact(writes)

const dialogFor = async (work: Work, account: Account, { chat, date, from }: MessageNews): Promise<Place> => {
  const { id: account_id, workspace_id } = account
  const known = await work.table.get(DialogOfChatEntity, { account_id, chat_id: chat.id })
  const found = known && (await work.table.get(DialogEntity, { workspace_id, id: known.dialog_id }))
  if (found) return { dialog: found, fresh: false }
  // Its records are being removed.
  if (known) throw new KnownAlready()
  const now = work.clock.now()
  return {
    fresh: true,
    dialog: {
      id: work.id('dialog'),
      workspace_id,
      account_id,
      chat_id: chat.id,
      conversation_id: work.id('conversation'),
      title: chat.title,
      username: chat.username,
      last_message_at: now,
      last_incoming_at: isOwn(account, from) ? undefined : date * SECOND,
      created_at: now,
    },
  }
}

/** A chat begins only while its account is connected. */
const newDialog = (account: Account, dialog: Dialog): Write[] => {
  const { id, workspace_id, conversation_id, account_id, chat_id, title, created_at, last_message_at } = dialog
  return [
    AccountEntity.check(account, { where: { status: 'active' } }),
    DialogOfChatEntity.create({ account_id, chat_id, dialog_id: id, conversation_id }),
    DialogEntity.create(dialog),
    ConversationEntity.create({
      id: conversation_id,
      workspace_id,
      kind: 'person',
      title,
      dialog_id: id,
      last_message_at,
      created_at,
    }),
  ]
}

/** Written by the account's own person, in Telegram. */
const isOwn = ({ kind, telegram_id }: Account, { id }: { id: number }): boolean => kind === 'user' && id === telegram_id

const messageOf = (work: Work, account: Account, dialog: Dialog, news: MessageNews): DialogMessage => {
  const own = isOwn(account, news.from)
  const created_at = news.date * SECOND
  return {
    id: newId('message', placeOf(work.clock.now(), dialog, news)),
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
    ...(own && { sent_at: created_at }),
    created_at,
  }
}

/**
 * Where it stands among the chat's messages: at Telegram's time, which has whole seconds, if it comes late; and behind those
 * that Telegram numbered before it.
 */
const placeOf = (now: number, { last_placed: last }: Dialog, { date, messageId }: MessageNews): number => {
  const at = date * SECOND
  const own = now - at < SECOND && now >= at ? now : at + (messageId % SECOND)
  return last && last.telegram_message_id < messageId ? Math.max(own, last.at + 1) : own
}

/** {@link placeOf} for the next one, which may have come before. */
const lastPlaced = ({ last_placed: last }: Dialog, { messageId }: MessageNews, message: DialogMessage) =>
  last && last.telegram_message_id > messageId ? last : { telegram_message_id: messageId, at: idTime(message.id) }

/** Names change; and the latest incoming message is what Telegram counts 24 hours from. */
const namesOf = (
  account: Account,
  { chat, from, date }: MessageNews,
  { last_incoming_at }: Dialog,
): Partial<Dialog> => ({
  title: chat.title,
  username: chat.username,
  ...(!isOwn(account, from) && { last_incoming_at: Math.max(last_incoming_at ?? 0, date * SECOND) }),
})

/** Nothing for a message that came again, for one that was deleted, and for an edit that another one followed. */
const editWrites = async (work: Work, dialog: Dialog, news: MessageNews, id: string | undefined): Promise<Write[]> => {
  if (id === undefined || news.editedAt === undefined) return []
  const { conversation_id } = dialog
  const before = await work.table.get(DialogMessageEntity, { conversation_id, id })
  if (!before || before.deleted_at !== undefined || (before.edited_at ?? 0) > news.editedAt) return []
  const { text, content, caption, editedAt: edited_at } = news
  const set = { text, content, caption, edited_at }
  return [
    DialogMessageEntity.update(before, { set }, { where: { edited_at: either(missing, lte(news.editedAt)) } }),
    ...previewWrites(dialog, { ...before, ...set }),
  ]
}

const previewWrites = (dialog: Dialog, message: DialogMessage): Write[] =>
  dialog.last_message?.id === message.id
    ? [DialogEntity.update(dialog, { set: { last_message: previewOf(message) } }, { where: { id: exists } })]
    : []

/** Messages of one transaction. */
const AT_ONCE = 20

const takeInDeletion = async (
  work: Work,
  account: Account,
  { chatId, messageIds }: DeletedNews,
  marks: readonly Write[],
): Promise<void> => {
  const known = await work.table.get(DialogOfChatEntity, { account_id: account.id, chat_id: chatId })
  if (known) {
    for (let i = 0; i < messageIds.length; i += AT_ONCE) {
      const some = messageIds.slice(i, i + AT_ONCE)
      await tryAgain(async () => commit(work, await deletionWrites(work, account.workspace_id, known, some)))
    }
  }
  if (marks.length > 0) await commit(work, marks)
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
    work.table.get(DialogEntity, { workspace_id, id: dialog_id }),
    work.table.getAll(keys.map((key) => ({ entity: KnownMessageEntity, key: KnownMessageEntity.key(key) }))),
  ])
  if (!dialog) return []
  const now = work.clock.now()
  const writes = await Promise.all(
    keys.map(async (key, i): Promise<Write[]> => {
      const found = known[i]
      // It has yet to come, and is not to appear then.
      if (!found) return [KnownMessageEntity.create(key)]
      if (found.message_id === undefined) return []
      const message = await work.table.get(DialogMessageEntity, { conversation_id, id: found.message_id })
      if (!message || message.deleted_at !== undefined) return []
      const set = { text: '[deleted]', caption: undefined, deleted_at: now }
      return [DialogMessageEntity.update(message, { set }), ...previewWrites(dialog, { ...message, ...set })]
    }),
  )
  return writes.flat()
}

/** The mark that an update was taken; of an update that was, it ends what {@link takeIn} does. */
export const oncePerUpdate = (write: Omit<Write, 'otherwise'>): Write => ({
  ...write,
  otherwise: () => new KnownAlready(),
})
