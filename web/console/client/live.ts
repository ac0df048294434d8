import { signal } from '@preact/signals'
import { liveUrl } from '../../session/config.ts'
import { whenReachable } from '../../session/reachable.ts'
import { session } from '../../session/session.ts'
import { announce } from '../../ui/announce.tsx'
import { refresh } from '../../ui/data.ts'
import { t } from '../../ui/messages.ts'
import { api, type Schemas, unwrap } from './api.ts'

/** True if the platform answered the latest request, or the live connection is open. */
export const online = signal(true)
/** Unread notifications, counted up to 100. */
export const unread = signal(0)
/** Number of approvals, questions and reports that wait for the user. */
export const waiting = signal(0)

type Updates = Pick<Schemas['WorkspaceUpdates'], 'counts' | 'unread_notifications'>

/** Interval of the cheap read that says what has changed, while there is no live connection. */
const POLL_MS = 30_000
/** Interval of the heartbeat. API Gateway ends a connection after 10 minutes without a message. */
const HEARTBEAT_MS = 8 * 60_000
/** Time for the platform to answer the first message. */
const ANSWER_MS = 10_000
/** Pauses before the next connection: doubling, with jitter, so that pages don't come back all at once. */
const RETRY_MS = { first: 1_000, most: 120_000 }
/** Pause after a refusal that another connection wouldn't change. */
const REFUSED_MS = 5 * 60_000

/** Result of {@link readBaseline}. Undefined if the request failed. */
let baseline: Updates | undefined
/** Highest counters so far. Empty if the baseline is missing. */
let known: Partial<Updates['counts']> = {}
let watching = false
let asking = false
let timer: ReturnType<typeof setTimeout> | undefined

/** Reloads what an update reports as changed. An update that arrives late or twice changes nothing. */
const apply = async ({ counts, unread_notifications }: Updates): Promise<void> => {
  const topics = Object.keys(counts) as (keyof Updates['counts'])[]
  // Without a baseline, everything counts as changed.
  const last = (topic: keyof Updates['counts']): number => known[topic] ?? -1
  const changed = topics.filter((topic) => counts[topic] > last(topic)).map((topic) => `${topic} `)
  if (topics.every((topic) => counts[topic] >= last(topic))) {
    if (known.notifications !== undefined && unread_notifications > unread.value)
      announce(t('You have a new notification.'), { to: '/notifications', label: t('View') })
    unread.value = unread_notifications
  }
  known = Object.fromEntries(topics.map((topic) => [topic, Math.max(counts[topic], last(topic))]))
  // A new draft arrives as a notification.
  if (changed.includes('notifications ')) changed.push('messages messenger')
  if (changed.length > 0) changed.push('inbox')
  // After a lost connection, reload all.
  if (!online.value) changed.push('')
  online.value = true
  await refresh(...changed)
}

const read = () => api.GET('/console/updates', { params: { query: {} } })

/** Reads the counters. Must finish before the page loads any data: a change made in between would be missed. */
export const readBaseline = async (): Promise<void> => {
  baseline = (await read().catch(() => undefined))?.data
}

/** Live connection of this page. */
const live = { socket: undefined as WebSocket | undefined, ready: false, failures: 0 }
let heartbeat: ReturnType<typeof setTimeout> | undefined
let retry: ReturnType<typeof setTimeout> | undefined

const hello = (socket: WebSocket): void => {
  const token = session()?.token
  if (token) socket.send(JSON.stringify({ type: 'hello', token }))
  clearTimeout(heartbeat)
  // An answer to a heartbeat that doesn't come means that the connection is dead without either side having closed it.
  heartbeat = setTimeout(() => socket.close(), ANSWER_MS)
}

const connect = (): void => {
  clearTimeout(retry)
  if (!watching || live.socket || !liveUrl || !session()) return
  const socket = new WebSocket(liveUrl)
  live.socket = socket
  let pause: number | undefined
  socket.onopen = () => hello(socket)
  socket.onmessage = ({ data }) => {
    if (live.socket !== socket) return
    const message = JSON.parse(String(data)) as ({ type: 'updates' } & Updates) | { type: 'end'; reason: string }
    if (message.type === 'end') {
      pause = REFUSED_MS
      // The answer to the next request says it, if the session has ended.
      void poll()
    }
    if (message.type !== 'updates') return
    live.ready = true
    live.failures = 0
    clearTimeout(timer)
    clearTimeout(heartbeat)
    heartbeat = setTimeout(() => hello(socket), HEARTBEAT_MS * (0.9 + Math.random() / 10))
    void apply(message)
  }
  socket.onclose = () => {
    if (live.socket !== socket) return
    forget()
    if (!watching) return
    // The connection ends every two hours. The first message of the next one has the changes in between.
    schedulePoll()
    const wait = pause ?? Math.min(RETRY_MS.first * 2 ** live.failures++, RETRY_MS.most)
    retry = setTimeout(connect, wait * (0.5 + Math.random() / 2))
  }
}

const forget = (): void => {
  clearTimeout(heartbeat)
  live.socket = undefined
  live.ready = false
}

const disconnect = (): void => {
  const { socket } = live
  clearTimeout(retry)
  forget()
  socket?.close()
}

const poll = async (): Promise<void> => {
  clearTimeout(timer)
  if (asking || !watching) return
  asking = true
  try {
    const now = await unwrap(read())
    if (watching) await apply(now)
  } catch (error) {
    if (!(error as { status?: number }).status) {
      online.value = false
      whenReachable(poll)
    }
  } finally {
    asking = false
    schedulePoll()
  }
}

const schedulePoll = (): void => {
  clearTimeout(timer)
  if (watching && !live.ready) timer = setTimeout(poll, POLL_MS)
}

/** Checks for changes at once when the user returns to the tab or goes online. */
const now = (): void => {
  if (document.hidden) return
  void poll()
  live.failures = 0
  connect()
}

/** Keeps visible data up to date. Returns a function that stops it. */
export const startUpdates = (): (() => void) => {
  watching = true
  known = baseline?.counts ?? {}
  unread.value = baseline?.unread_notifications ?? 0
  live.failures = 0
  schedulePoll()
  connect()
  const stopping = new AbortController()
  document.addEventListener('visibilitychange', now, stopping)
  addEventListener('online', now, stopping)
  addEventListener('offline', () => (online.value = false), stopping)
  return () => {
    watching = false
    clearTimeout(timer)
    disconnect()
    stopping.abort()
  }
}

/** Checks for changes at once, after a user's action. */
export const pollNow = (): void => void poll()
