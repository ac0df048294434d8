import * as z from 'zod'
import { returnToBucket, takeFromBucket } from '#shared/foundation/limits/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ifUnchanged, type Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { type Account, AccountEntity, type Thread, ThreadEntity } from '#shared/work/threads/index.ts'
import { type BotCallOutcome, botIdOf, callBotApi, isTokenRejected } from './bot-api.ts'
import { openCredentials } from './credentials.ts'
import { disconnect } from './disconnect.ts'
import { KnownMessageEntity, type Outgoing, OutgoingEntity, type ThreadMessage, ThreadMessageEntity } from './entity.ts'
import { loadCurrentAccount } from './leave.ts'
import { replyRefusal, sendingStopReason } from './sendable.ts'
import { threadWake } from './wakes.ts'

/** Time after which a worker starts no more sends for a thread and queues the rest for another worker. */
const SHIFT = 20 * SECOND

/** Maximum clock difference between two workers. SQS rounds delays up. */
const SKEW = 100

/** Next step after a message: continue, leave it to the worker that holds the lease, or wait. */
type Next = 'go_on' | 'leave' | { waitMs: number }

/**
 * Sends a thread's queued messages one at a time, in the order in which they were queued.
 *
 *     waiting ──► calling ──answer──────► sent, or failed with the Bot API's words
 *        ▲           ├ 429, not reached ─► waiting, until a time
 *        └───────────┘
 *                    └ no answer, or the worker died ─► unknown
 *
 * The Bot API isn't idempotent, so a message whose call may have arrived is never sent again (at most once).
 */
export const sendQueued = async (
  work: WorkerWork,
  chat: { workspace_id: string; thread_id: string },
): Promise<void> => {
  const begun = performance.now()
  for (;;) {
    const { items } = await work.table.query(
      OutgoingEntity,
      { thread_id: chat.thread_id },
      { limit: 1, ascending: true },
    )
    const [first] = items
    if (!first) return
    const next: Next = performance.now() - begun > SHIFT ? { waitMs: 0 } : await sendFirst(work, first)
    if (next === 'leave') return
    if (next !== 'go_on') return work.queues.send('messenger', [threadWake(first, next.waitMs)])
  }
}

const sendFirst = async (work: WorkerWork, outgoing: Outgoing): Promise<Next> => {
  const { workspace_id, thread_id, conversation_id, message_id } = outgoing
  const now = work.clock.now()
  const left = (outgoing.until ?? 0) - now
  if (outgoing.state === 'calling') {
    // The sending worker continues with the next message. A lost worker is found by the sweeper.
    if (left > 0) return 'leave'
    return end(work, outgoing, { status: 'unknown', error: 'Telegram’s answer didn’t arrive.' })
  }
  // The worker that scheduled the wait comes back. Otherwise every new message would schedule another wake-up.
  if (left > SKEW) return 'leave'
  if (left > 0) return { waitMs: left }
  const [[thread, message, workspace], account] = await Promise.all([
    work.table.getAll([
      ThreadEntity.ref({ workspace_id, id: thread_id }),
      ThreadMessageEntity.ref({ conversation_id, id: message_id }),
      WorkspaceEntity.ref({ id: workspace_id }),
    ] as const),
    loadCurrentAccount(work, workspace_id, outgoing.account_id),
  ])
  // The message was removed with its account.
  if (!thread || message?.status !== 'sending') return drop(work, outgoing)
  const error = sendingStopReason(work, workspace) ?? replyRefusal(work, account, thread)?.message
  if (error !== undefined || !account) return end(work, outgoing, { status: 'failed', error })
  const pause = (account.blocked_until ?? 0) - now
  if (pause > 0) return holdBack(work, outgoing, pause)
  const token = await tokenOf(work, account)
  if (token === undefined) return postpone(work, outgoing, MINUTE, 'The platform has no bot at the moment.')
  const waitMs = await pace(work, thread_id, botIdOf(token))
  if (waitMs > 0) return holdBack(work, outgoing, waitMs)
  return call(work, { outgoing, thread, message, account, token })
}

/** Returns the token that sends the account's messages. Personal accounts use the platform's own bot. */
const tokenOf = async (work: WorkerWork, account: Account): Promise<string | undefined> =>
  account.kind === 'bot' ? (await openCredentials(work, account)).token : (await work.bot.credentials())?.token

/** Applies the rate limits that Telegram recommends. @returns ms to wait; 0 to send now */
const pace = async (work: WorkerWork, threadId: string, botId: string): Promise<number> => {
  const chat = `messenger:chat:${threadId}`
  const ofChat = await takeFromBucket(work, chat, LIMITS.messengerChatRate)
  if (!ofChat.allowed) return ofChat.retryAfter * SECOND
  const ofBot = await takeFromBucket(work, `messenger:bot:${botId}`, LIMITS.messengerBotRate)
  if (ofBot.allowed) return 0
  await returnToBucket(work, chat, LIMITS.messengerChatRate)
  return ofBot.retryAfter * SECOND
}

interface Scene {
  outgoing: Outgoing
  thread: Thread
  message: ThreadMessage
  account: Account
  token: string
}

const Sent = () => z.object({ message_id: z.int().positive() })

const call = async (work: WorkerWork, scene: Scene): Promise<Next> => {
  const { outgoing, thread, message, account, token } = scene
  const until = work.clock.now() + LIMITS.messengerLease
  const mine = { ...outgoing, state: 'calling' as const, until, due_at: until }
  const taken = await ifUnchanged(
    work.commit([
      OutgoingEntity.update(
        outgoing,
        { set: { state: 'calling', until, due_at: until } },
        // The wait of another worker doesn't matter: a worker that passed the rate limits may send.
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
      chat_id: thread.chat_id,
      text: message.text,
      ...(account.kind === 'user' && { business_connection_id: account.connection_id }),
    },
    Sent(),
  )
  work.log.info('messenger message', {
    account_id: account.id,
    thread_id: thread.id,
    message_id: message.id,
    outcome: called.kind,
    ...(called.kind === 'refused' && { status: called.status }),
  })
  return conclude(work, { ...scene, outgoing: mine }, called)
}

const conclude = async (
  work: WorkerWork,
  { outgoing, thread, account }: Scene,
  called: BotCallOutcome<{ message_id: number }>,
): Promise<Next> => {
  switch (called.kind) {
    case 'ok': {
      const { message_id: telegram_message_id } = called.result
      return end(work, outgoing, { status: 'sent', sent_at: work.clock.now(), telegram_message_id }, [
        KnownMessageEntity.replace({
          thread_id: thread.id,
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
      if (called.retryAfterMs !== undefined) return pauseAccount(work, outgoing, account, called.retryAfterMs)
      if (isTokenRejected(called)) {
        // The platform's own token is being replaced.
        if (account.kind === 'user') return postpone(work, outgoing, MINUTE, called.description)
        await disconnect(work, account, 'token_revoked')
      }
      return end(work, outgoing, { status: 'failed', error: called.description })
    }
  }
}

/** Delays a message that no worker tried to send yet. Only one worker comes back for it. */
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

/** Pauses the whole account for the time that the Bot API requested. */
const pauseAccount = async (work: WorkerWork, outgoing: Outgoing, account: Account, waitMs: number): Promise<Next> => {
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

/** Retries a message that didn't reach Telegram, until a maximum age. */
const postpone = (work: WorkerWork, outgoing: Outgoing, waitMs: number, error: string): Promise<Next> =>
  work.clock.now() - outgoing.created_at > LIMITS.messengerPatience
    ? end(work, outgoing, { status: 'failed', error })
    : backToWaiting(work, outgoing, waitMs)

type Outcome = Pick<ThreadMessage, 'status'> & Partial<Pick<ThreadMessage, 'error' | 'sent_at' | 'telegram_message_id'>>

/** Stores a message's outcome and removes it from the queue. */
const end = async (
  work: WorkerWork,
  outgoing: Outgoing,
  outcome: Outcome,
  extra: readonly Write[] = [],
): Promise<Next> => {
  const { conversation_id, message_id: id, state, attempt } = outgoing
  const done = await ifUnchanged(
    work.commit([
      OutgoingEntity.delete(outgoing, { where: { state, attempt } }),
      ThreadMessageEntity.update({ conversation_id, id }, { set: outcome }, { where: { status: 'sending' } }),
      ...extra,
    ]),
  )
  return done ? 'go_on' : drop(work, outgoing)
}

/**
 * Removes a queue entry whose message no longer needs sending. With two concurrent workers, both check the current
 * state.
 */
const drop = async (work: WorkerWork, outgoing: Outgoing): Promise<Next> => {
  const { conversation_id, message_id: id } = outgoing
  const message = await work.table.get(ThreadMessageEntity, { conversation_id, id })
  if (message?.status === 'sending') return 'leave'
  await work.commit([OutgoingEntity.delete(outgoing)])
  return 'go_on'
}
