import * as z from 'zod'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { type AnyEntity, type ItemOf, ifUnchanged, type Write } from '#shared/table/entity.ts'
import { ConversationEntity } from '#shared/work/conversations/index.ts'
import { type Account, AccountEntity, ThreadEntity } from '#shared/work/threads/index.ts'
import { callBotApi } from './bot-api.ts'
import { releaseBot } from './bot-claim.ts'
import { openCredentials } from './credentials.ts'
import {
  AccountWebhookEntity,
  DraftEntity,
  KnownMessageEntity,
  OutgoingEntity,
  ThreadMessageEntity,
  ThreadOfChatEntity,
} from './entity.ts'
import { accountWake } from './wakes.ts'
import { setWebhook } from './webhook.ts'

/** Attempts to delete a webhook, over 24.2 hours. After that, Telegram keeps calling an address that refuses. */
const TRIES = 12

/** Maximum number of threads removed per queue message. */
const ROUNDS = 100

/**
 * Completes the connection or removal of an account: sets a bot's webhook, or deletes it and all of the account's
 * records. The account's status determines which. Each step can be repeated.
 */
export const completeAccountChange = async (
  work: WorkerWork,
  key: { workspace_id: string; account_id: string },
): Promise<void> => {
  const account = await work.table.get(AccountEntity, { workspace_id: key.workspace_id, id: key.account_id })
  if (account?.status === 'connecting') return connect(work, account)
  if (account?.status === 'removing') return remove(work, account)
}

const connect = async (work: WorkerWork, account: Account): Promise<void> => {
  // Has no effect if the request finished first.
  await ifUnchanged(
    setWebhook(work, account, account.created_by.id, (writes) =>
      writes.length === 0 ? later(work, account) : work.commit(writes),
    ),
  )
}

/** Schedules the next attempt after 1, 2, 4 … minutes, at most 4 hours. */
const later = async (work: WorkerWork, account: Account): Promise<void> => {
  const tries = (account.tries ?? 0) + 1
  const due_at = work.clock.now() + Math.min(240, 2 ** tries) * MINUTE
  await work.commit([AccountEntity.update(account, { set: { tries, due_at } }, { where: { status: account.status } })])
}

const remove = async (work: WorkerWork, account: Account): Promise<void> => {
  if (account.credentials !== undefined && !(await deleteWebhook(work, account))) return later(work, account)
  for (let round = 0; round < ROUNDS; round++) {
    const { items } = await work.table.query(ThreadOfChatEntity, { account_id: account.id }, { limit: 1 })
    const [chat] = items
    if (!chat) return end(work, account)
    await removeThread(work, account.workspace_id, chat)
  }
  await work.queues.send('messenger', [accountWake(account)])
}

/** @returns true when the webhook was deleted or the attempts are used up */
const deleteWebhook = async (work: WorkerWork, account: Account): Promise<boolean> => {
  const { token } = await openCredentials(work, account)
  const called = await callBotApi(work, token, 'deleteWebhook', {}, z.literal(true))
  const over = called.kind === 'ok' || (called.kind === 'refused' && called.status !== 429)
  if (over || (account.tries ?? 0) >= TRIES) {
    if (called.kind !== 'ok') {
      work.log.warn('could not delete a webhook', { account_id: account.id, reason: called.description })
    }
    await work.commit([
      AccountEntity.update(account, { set: { credentials: undefined } }, { where: { status: 'removing' } }),
    ])
    return true
  }
  return false
}

const PAGE = 90

/**
 * Removes a thread with its messages. The record that leads to them is deleted last, so that an interrupted removal
 * continues.
 */
const removeThread = async (
  work: WorkerWork,
  workspace_id: string,
  { account_id, chat_id, thread_id, conversation_id }: ItemOf<typeof ThreadOfChatEntity>,
): Promise<void> => {
  // Without the thread's record, no new messages are added.
  await work.commit([
    ThreadEntity.delete({ workspace_id, id: thread_id }),
    ConversationEntity.delete({ workspace_id, id: conversation_id }),
  ])
  await removeAll(work, OutgoingEntity, { thread_id })
  await removeAll(work, KnownMessageEntity, { thread_id })
  await removeAll(work, ThreadMessageEntity, { conversation_id }, ({ id, author }) =>
    author.type === 'agent' ? [DraftEntity.delete({ workspace_id, message_id: id })] : [],
  )
  await work.commit([ThreadOfChatEntity.delete({ account_id, chat_id })])
}

const removeAll = async <E extends AnyEntity>(
  work: WorkerWork,
  entity: E,
  partition: Record<string, string>,
  extra: (item: ItemOf<E>) => Write[] = () => [],
): Promise<void> => {
  for (;;) {
    const { items, next } = await work.table.query(entity, partition, { limit: PAGE / 2 })
    await work.commit(items.flatMap((item) => [entity.delete(item), ...extra(item as ItemOf<E>)]))
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
