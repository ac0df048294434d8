import * as z from 'zod'
import { ConversationEntity } from '../../entities/conversations.ts'
import {
  type Account,
  AccountEntity,
  AccountWebhookEntity,
  DialogEntity,
  DialogMessageEntity,
  DialogOfChatEntity,
  DraftEntity,
  KnownMessageEntity,
  OutgoingEntity,
} from '../../entities/messenger.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { type AnyEntity, type ItemOf, ifUnchanged, type Write } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import { callBotApi } from './bot-api.ts'
import { releaseBot } from './claim.ts'
import { openCredentials } from './credentials.ts'
import { wakeForAccount } from './wakes.ts'
import { pointWebhook } from './webhook.ts'

/** Tries to take a webhook off, over 24.2 hours; then Telegram goes on sending to an address that refuses. */
const TRIES = 12
/** Removed with one message: some hundred chats, or thousands of messages. */
const ROUNDS = 100

/**
 * Finishes what a request began: sets a bot's webhook, or takes it off and removes all that belongs to the account. The
 * record says what; each part can be repeated.
 */
export const settleAccount = async (
  work: WorkerWork,
  key: { workspace_id: string; account_id: string },
): Promise<void> => {
  const account = await work.table.get(AccountEntity, { workspace_id: key.workspace_id, id: key.account_id })
  if (account?.status === 'connecting') return connect(work, account)
  if (account?.status === 'removing') return remove(work, account)
}

const connect = async (work: WorkerWork, account: Account): Promise<void> => {
  // Or the request is faster.
  await ifUnchanged(
    pointWebhook(work, account, account.created_by.id, (writes) =>
      writes.length === 0 ? later(work, account) : work.commit(writes),
    ),
  )
}

/** Looks again after 1, 2, 4 … minutes, at most 4 hours. */
const later = async (work: WorkerWork, account: Account): Promise<void> => {
  const tries = (account.tries ?? 0) + 1
  const due_at = work.clock.now() + Math.min(240, 2 ** tries) * MINUTE
  await work.commit([AccountEntity.update(account, { set: { tries, due_at } }, { where: { status: account.status } })])
}

const remove = async (work: WorkerWork, account: Account): Promise<void> => {
  if (account.credentials !== undefined && !(await takeOff(work, account))) return later(work, account)
  for (let round = 0; round < ROUNDS; round++) {
    const { items } = await work.table.query(DialogOfChatEntity, { account_id: account.id }, { limit: 1 })
    const [chat] = items
    if (!chat) return end(work, account)
    await removeDialog(work, account.workspace_id, chat)
  }
  await work.queues.send('messenger', [wakeForAccount(account)])
}

/** @returns whether it is over, one way or the other */
const takeOff = async (work: WorkerWork, account: Account): Promise<boolean> => {
  const { token } = await openCredentials(work, account)
  const called = await callBotApi(work, token, 'deleteWebhook', {}, z.literal(true))
  const over = called.kind === 'ok' || (called.kind === 'refused' && called.status !== 429)
  if (over || (account.tries ?? 0) >= TRIES) {
    if (called.kind !== 'ok') {
      work.log.warn('a webhook stays', { account_id: account.id, reason: called.description })
    }
    await work.commit([
      AccountEntity.update(account, { set: { credentials: undefined } }, { where: { status: 'removing' } }),
    ])
    return true
  }
  return false
}

const PAGE = 90

/** A chat with its messages, the way to them last: what died half-way is found again. */
const removeDialog = async (
  work: WorkerWork,
  workspace_id: string,
  { account_id, chat_id, dialog_id, conversation_id }: ItemOf<typeof DialogOfChatEntity>,
): Promise<void> => {
  // Without the chat's record nothing is added any more.
  await work.commit([
    DialogEntity.delete({ workspace_id, id: dialog_id }),
    ConversationEntity.delete({ workspace_id, id: conversation_id }),
  ])
  await removeAll(work, OutgoingEntity, { dialog_id })
  await removeAll(work, KnownMessageEntity, { dialog_id })
  await removeAll(work, DialogMessageEntity, { conversation_id }, ({ id, author }) =>
    author.type === 'agent' ? [DraftEntity.delete({ workspace_id, message_id: id })] : [],
  )
  await work.commit([DialogOfChatEntity.delete({ account_id, chat_id })])
}

const removeAll = async <E extends AnyEntity>(
  work: WorkerWork,
  entity: E,
  partition: Record<string, string>,
  beside: (item: ItemOf<E>) => Write[] = () => [],
): Promise<void> => {
  for (;;) {
    const { items, next } = await work.table.query(entity, partition, { limit: PAGE / 2 })
    await work.commit(items.flatMap((item) => [entity.delete(item), ...beside(item as ItemOf<E>)]))
    if (next === undefined) return
  }
}

const end = async (work: WorkerWork, account: Account): Promise<void> => {
  await work.commit([
    AccountEntity.delete(account),
    AccountWebhookEntity.delete({ account_id: account.id }),
    ...(await releaseBot(work, account)),
  ])
}
