import * as z from 'zod'
import {
  type Account,
  AccountEntity,
  type Dialog,
  DialogEntity,
  type DialogMessage,
  DialogMessageEntity,
  KnownMessageEntity,
  type Outgoing,
  OutgoingEntity,
} from '../../entities/messenger.ts'
import { WorkspaceEntity } from '../../entities/people.ts'
import { MINUTE, SECOND } from '../../kernel/clock.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ifUnchanged, type Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { WorkerWork } from '../deps.ts'
import { giveBack, take } from '../limits/gcra.ts'
import { botIdOf, type Called, callBotApi, isRevoked } from './bot-api.ts'
import { openCredentials } from './credentials.ts'
import { currentAccount, disconnect } from './disconnect.ts'
import { whyNot, whyStopped } from './may-send.ts'
import { wakeForDialog } from './wakes.ts'

/** A worker begins nothing more for a chat after this, and hands it on. */
const SHIFT = 20 * SECOND

/** Clocks of two workers differ by so much at most; SQS rounds pauses up. */
const SKEW = 100

/** What is to be done after a message: the next one, wait, or leave it to whoever is at it. */
type Next = 'go_on' | 'leave' | { waitMs: number }

/**
 * Sends what waits in a chat, one after the other, in the order in which it was given.
 *
 *     waiting ──► calling ──answer──────► sent, or failed with the Bot API's words
 *        ▲           ├ 429, not reached ─► waiting, until a time
 *        └───────────┘
 *                    └ no answer, or the worker died ─► unknown
 *
 * The Bot API has no idempotency, so a message whose call may have arrived is never sent again (at most once).
 */
export const sendWaiting = async (
  work: WorkerWork,
  chat: { workspace_id: string; dialog_id: string },
): Promise<void> => {
  const begun = performance.now()
  for (;;) {
    const { items } = await work.table.query(
      OutgoingEntity,
      { dialog_id: chat.dialog_id },
      { limit: 1, ascending: true },
    )
    const [first] = items
    if (!first) return
    const next: Next = performance.now() - begun > SHIFT ? { waitMs: 0 } : await sendFirst(work, first)
    if (next === 'leave') return
    if (next !== 'go_on') return work.queues.send('messenger', [wakeForDialog(first, next.waitMs)])
  }
}

const sendFirst = async (work: WorkerWork, outgoing: Outgoing): Promise<Next> => {
  const { workspace_id, dialog_id, conversation_id, message_id } = outgoing
  const now = work.clock.now()
  const left = (outgoing.until ?? 0) - now
  if (outgoing.state === 'calling') {
    // Whoever sends it comes back for the next; one that died is found by the sweep.
    if (left > 0) return 'leave'
    return end(work, outgoing, { status: 'unknown', error: 'Telegram’s answer was lost.' })
  }
  // Whoever had it wait comes back for it; woken by each message that is written, others would come again and again.
  if (left > SKEW) return 'leave'
  if (left > 0) return { waitMs: left }
  const [[dialog, message, workspace], account] = await Promise.all([
    work.table.getAll([
      { entity: DialogEntity, key: DialogEntity.key({ workspace_id, id: dialog_id }) },
      { entity: DialogMessageEntity, key: DialogMessageEntity.key({ conversation_id, id: message_id }) },
      { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspace_id }) },
    ] as const),
    currentAccount(work, workspace_id, outgoing.account_id),
  ])
  // Removed with its account.
  if (!dialog || message?.status !== 'sending') return drop(work, outgoing)
  const error = whyStopped(work, workspace) ?? whyNot(work, account, dialog)?.message
  if (error !== undefined || !account) return end(work, outgoing, { status: 'failed', error })
  const pause = (account.blocked_until ?? 0) - now
  if (pause > 0) return holdBack(work, outgoing, pause)
  const token = await tokenOf(work, account)
  if (token === undefined) return postpone(work, outgoing, MINUTE, 'The platform has no bot now.')
  const waitMs = await pace(work, dialog_id, botIdOf(token))
  if (waitMs > 0) return holdBack(work, outgoing, waitMs)
  return call(work, { outgoing, dialog, message, account, token })
}

/** A personal account's messages go out by the platform's own bot. */
const tokenOf = async (work: WorkerWork, account: Account): Promise<string | undefined> =>
  account.kind === 'bot' ? (await openCredentials(work, account)).token : (await work.bot.credentials())?.token

/** Keeps to what Telegram advises. @returns how long to wait; 0: now */
const pace = async (work: WorkerWork, dialogId: string, botId: string): Promise<number> => {
  const chat = `messenger:chat:${dialogId}`
  const ofChat = await take(work, chat, LIMITS.messengerChatRate)
  if (!ofChat.allowed) return ofChat.retryAfter * SECOND
  const ofBot = await take(work, `messenger:bot:${botId}`, LIMITS.messengerBotRate)
  if (ofBot.allowed) return 0
  await giveBack(work, chat, LIMITS.messengerChatRate)
  return ofBot.retryAfter * SECOND
}

interface Scene {
  outgoing: Outgoing
  dialog: Dialog
  message: DialogMessage
  account: Account
  token: string
}

const Sent = () => z.object({ message_id: z.int().positive() })

const call = async (work: WorkerWork, scene: Scene): Promise<Next> => {
  const { outgoing, dialog, message, account, token } = scene
  const until = work.clock.now() + LIMITS.messengerLease
  const mine = { ...outgoing, state: 'calling' as const, until, due_at: until }
  const taken = await ifUnchanged(
    work.commit([
      OutgoingEntity.update(
        outgoing,
        { set: { state: 'calling', until, due_at: until } },
        // Also where another had it wait at this moment: whoever was let through goes on.
        { where: { state: 'waiting', attempt: outgoing.attempt } },
      ),
    ]),
  )
  if (!taken) return 'leave'
  const called = await callBotApi(
    work,
    token,
    'sendMessage',
    {
      chat_id: dialog.chat_id,
      text: message.text,
      ...(account.kind === 'user' && { business_connection_id: account.connection_id }),
    },
    Sent(),
  )
  work.log.info('messenger message', {
    account_id: account.id,
    dialog_id: dialog.id,
    message_id: message.id,
    outcome: called.kind,
    ...(called.kind === 'refused' && { status: called.status }),
  })
  return conclude(work, { ...scene, outgoing: mine }, called)
}

const conclude = async (
  work: WorkerWork,
  { outgoing, dialog, account }: Scene,
  called: Called<{ message_id: number }>,
): Promise<Next> => {
  switch (called.kind) {
    case 'ok': {
      const { message_id: telegram_message_id } = called.result
      return end(work, outgoing, { status: 'sent', sent_at: work.clock.now(), telegram_message_id }, [
        KnownMessageEntity.replace({
          dialog_id: dialog.id,
          telegram_message_id,
          message_id: outgoing.message_id,
        }),
      ])
    }
    case 'unknown':
      return end(work, outgoing, { status: 'unknown', error: called.description })
    case 'unreached':
      return postpone(work, outgoing, Math.min(5 * MINUTE, 2 ** outgoing.attempt * SECOND), called.description)
    case 'refused': {
      if (called.retryAfterMs !== undefined) return waitAsTold(work, outgoing, account, called.retryAfterMs)
      if (isRevoked(called)) {
        // The platform's own token is being exchanged.
        if (account.kind === 'user') return postpone(work, outgoing, MINUTE, called.description)
        await disconnect(work, account, 'token_revoked')
      }
      return end(work, outgoing, { status: 'failed', error: called.description })
    }
  }
}

/** Has a message wait that nobody tried to send. Of those who would, one comes back for it. */
const holdBack = async (work: WorkerWork, outgoing: Outgoing, waitMs: number): Promise<Next> => {
  const until = work.clock.now() + waitMs
  const done = await ifUnchanged(
    work.commit([
      OutgoingEntity.update(
        outgoing,
        { set: { until, due_at: until + MINUTE } },
        { where: { state: 'waiting', attempt: outgoing.attempt, until: outgoing.until ?? missing } },
      ),
    ]),
  )
  return done ? { waitMs } : 'leave'
}

/** The whole account leaves the Bot API alone for as long as it was told to. */
const waitAsTold = async (work: WorkerWork, outgoing: Outgoing, account: Account, waitMs: number): Promise<Next> => {
  const blocked_until = work.clock.now() + waitMs
  await ifUnchanged(work.commit([AccountEntity.update(account, { set: { blocked_until } })]))
  return backToWaiting(work, outgoing, waitMs)
}

const backToWaiting = async (work: WorkerWork, outgoing: Outgoing, waitMs: number): Promise<Next> => {
  const until = work.clock.now() + waitMs
  const done = await ifUnchanged(
    work.commit([
      OutgoingEntity.update(
        outgoing,
        { set: { state: 'waiting', until, due_at: until + MINUTE, attempt: outgoing.attempt + 1 } },
        { where: { state: outgoing.state, attempt: outgoing.attempt } },
      ),
    ]),
  )
  return done ? { waitMs } : 'leave'
}

/** Tries again later what reached nobody; not for ever. */
const postpone = (work: WorkerWork, outgoing: Outgoing, waitMs: number, error: string): Promise<Next> =>
  work.clock.now() - outgoing.created_at > LIMITS.messengerPatience
    ? end(work, outgoing, { status: 'failed', error })
    : backToWaiting(work, outgoing, waitMs)

type Outcome = Pick<DialogMessage, 'status'> & Partial<Pick<DialogMessage, 'error' | 'sent_at' | 'telegram_message_id'>>

/** What became of a message; its chat goes on with the next. */
const end = async (
  work: WorkerWork,
  outgoing: Outgoing,
  outcome: Outcome,
  beside: readonly Write[] = [],
): Promise<Next> => {
  const { conversation_id, message_id: id, state, attempt } = outgoing
  const done = await ifUnchanged(
    work.commit([
      OutgoingEntity.delete(outgoing, { where: { state, attempt } }),
      DialogMessageEntity.update({ conversation_id, id }, { set: outcome }, { where: { status: 'sending' } }),
      ...beside,
    ]),
  )
  return done ? 'go_on' : drop(work, outgoing)
}

/** Takes out of the queue what has no message any more. Of two workers one is faster; both look at what is there then. */
const drop = async (work: WorkerWork, outgoing: Outgoing): Promise<Next> => {
  const { conversation_id, message_id: id } = outgoing
  const message = await work.table.get(DialogMessageEntity, { conversation_id, id })
  if (message?.status === 'sending') return 'leave'
  await work.commit([OutgoingEntity.delete(outgoing)])
  return 'go_on'
}
