import { setTimeout as sleep } from 'node:timers/promises'
import { timeLimitSignal } from '#shared/kernel/time-limit.ts'
import type { Message } from './chats.ts'
import { firstNumber } from './numbers.ts'
import type { Person } from './person.ts'

/** A button press: Telegram's `CallbackQuery`. */
export interface CallbackQuery {
  id: string
  from: Person
  message: Message
  chat_instance: string
  data: string
}

/** An update for the bot. */
export type Update = { update_id: number } & News

/** Update of a Business connection, as in Telegram's `Update`. */
type BusinessNews =
  | { business_connection: object }
  | { business_message: object }
  | { edited_business_message: object }
  | { deleted_business_messages: object }

type News = { message: Message } | { edited_message: Message } | { callback_query: CallbackQuery } | BusinessNews

/** Destination of updates. */
export interface Webhook {
  url: string
  secretToken: string
  /** Kinds of updates to send; empty for all. */
  allowedUpdates: string[]
}

/** Sends updates to the webhook. */
export interface Updates {
  webhook: Webhook | undefined
  /** Sets or removes the webhook. Waiting updates are sent to the new one. */
  connect(webhook: Webhook | undefined): void
  /**
   * Queues an update.
   * @returns the update's id; 0 if the webhook does not want its kind
   */
  push(chatId: number, news: News): number
  /**
   * Sends an update once more, whatever its outcome was.
   * @returns the status of the response
   */
  redeliver(updateId: number): Promise<number>
  /** Drops waiting updates. */
  drop(): void
  readonly pending: number
  readonly lastError: { at: number; message: string } | undefined
  /** Resolves when the webhook has accepted every update. */
  settled(): Promise<void>
  stop(): void
}

/** Options for sending updates. */
export interface UpdatesOptions {
  /** Delays after each failure; the last one repeats. Telegram waits from seconds to minutes. */
  retryDelaysMs: number[]
  /** Runs the API call that a webhook response may contain. */
  onReply(method: string, args: Record<string, unknown>): void
  /** Maps a webhook's address to its real address; the same address by default. */
  reach?: (url: string) => string
}

const TIMEOUT_MS = 30_000

/**
 * Delivers updates as Telegram does (telegram-bot-api, WebhookActor). Updates of a thread are sent in order, one at a
 * time, and retried until a 2xx. A `Retry-After` is respected. Threads do not wait for one another.
 */
export const createUpdates = ({ retryDelaysMs, onReply, reach = (url) => url }: UpdatesOptions): Updates => {
  const waiting = new Map<number, Update[]>()
  const working = new Map<number, Promise<void>>()
  const sent = new Map<number, Update>()
  const stopping = new AbortController()
  let next = firstNumber()
  let webhook: Webhook | undefined
  let lastError: { at: number; message: string } | undefined

  const post = async (to: Webhook, update: Update): Promise<{ status: number; error?: string; retryAfter: number }> => {
    const headers = {
      'content-type': 'application/json',
      ...(to.secretToken && { 'x-telegram-bot-api-secret-token': to.secretToken }),
    }
    const signal = AbortSignal.any([stopping.signal, timeLimitSignal(TIMEOUT_MS)])
    try {
      const body = JSON.stringify(update)
      const answer = await fetch(reach(to.url), { method: 'POST', headers, body, signal, redirect: 'manual' })
      const text = await answer.text()
      if (answer.ok) reply(text)
      const { status, statusText } = answer
      if (answer.ok) return { status, retryAfter: 0 }
      const retryAfter = Number(answer.headers.get('retry-after')) || 0
      return { status, retryAfter, error: `Wrong response from the webhook: ${status} ${statusText}` }
    } catch {
      return { status: 0, error: 'Connection refused', retryAfter: 0 }
    }
  }

  const reply = (text: string) => {
    if (!text.startsWith('{')) return
    try {
      const { method, ...args } = JSON.parse(text) as Record<string, unknown>
      if (typeof method === 'string') onReply(method, args)
    } catch {
      // Telegram ignores a response that it cannot parse.
    }
  }

  const work = async (chatId: number): Promise<void> => {
    const queue = waiting.get(chatId) ?? []
    for (let failures = 0; webhook && queue[0] && !stopping.signal.aborted; ) {
      const [update] = queue
      const { error, retryAfter } = await post(webhook, update)
      if (error === undefined) {
        // The update may have been dropped in the meantime.
        if (queue[0] === update) queue.shift()
        failures = 0
        continue
      }
      lastError = { at: Date.now(), message: error }
      const delay = retryAfter * 1_000 || (retryDelaysMs[Math.min(failures, retryDelaysMs.length - 1)] ?? 0)
      failures += 1
      await sleep(delay, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  const wake = (chatId: number) => {
    if (working.has(chatId) || !webhook) return
    const done = work(chatId).finally(() => {
      working.delete(chatId)
      if ((waiting.get(chatId)?.length ?? 0) > 0 && !stopping.signal.aborted) wake(chatId)
    })
    working.set(chatId, done)
  }

  return {
    get webhook() {
      return webhook
    },
    connect: (given) => {
      webhook = given
      lastError = undefined
      for (const chatId of waiting.keys()) wake(chatId)
    },
    push: (chatId, news) => {
      const wanted = webhook?.allowedUpdates ?? []
      if (wanted.length > 0 && !wanted.some((kind) => kind in news)) return 0
      next += 1
      const update: Update = { update_id: next, ...news }
      sent.set(next, update)
      const queue = waiting.get(chatId) ?? []
      queue.push(update)
      waiting.set(chatId, queue)
      wake(chatId)
      return next
    },
    redeliver: async (updateId) => {
      const update = sent.get(updateId)
      if (!update || !webhook) throw new Error(`Unknown update ${updateId}, or no webhook`)
      return (await post(webhook, update)).status
    },
    drop: () => {
      for (const queue of waiting.values()) queue.length = 0
    },
    get pending() {
      return [...waiting.values()].reduce((sum, queue) => sum + queue.length, 0)
    },
    get lastError() {
      return lastError
    },
    settled: async () => {
      while (working.size > 0) await Promise.all(working.values())
    },
    stop: () => stopping.abort(),
  }
}
