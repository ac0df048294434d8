import { signal } from '@preact/signals'
import { announce } from '../../ui/announce.tsx'
import { refresh } from '../../ui/data.ts'
import { api, unwrap } from './api.ts'

/** True if the platform answered the latest request. */
export const online = signal(true)
/** Unread notifications, counted up to 100. */
export const unread = signal(0)
/** Number of approvals, questions and reports that wait for the user. */
export const waiting = signal(0)

/** Interval of the cheap read that says which topics have changed. Only those are reloaded. */
const POLL_MS = 3_000
/** Interval while the tab is hidden or the platform can't be reached. */
const IDLE_POLL_MS = 20_000

let version: string | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let watching = false
let asking = false

const poll = async (): Promise<void> => {
  clearTimeout(timer)
  if (asking || !watching) return
  asking = true
  let wait = POLL_MS
  try {
    const since = version
    const now = await unwrap(api.GET('/console/updates', { params: { query: since ? { since } : {} } }))
    if (!watching) return
    version = now.version
    const changed = Object.entries(now.changed).flatMap(([topic, is]) => (is ? [`${topic} `] : []))
    // A new draft arrives as a notification.
    if (now.changed.notifications) changed.push('messages messenger')
    // The first answer reports everything as changed, but that is being loaded anyway. After a lost connection, reload all.
    const wasOnline = online.value
    online.value = true
    if (since && now.unread_notifications > unread.value) announce('You have a new notification.')
    unread.value = now.unread_notifications
    if (since) await refresh(...changed, ...(wasOnline ? [] : ['']))
  } catch (error) {
    const { status = 0 } = error as { status?: number }
    if (status === 0) online.value = false
    wait = IDLE_POLL_MS
  } finally {
    asking = false
    schedulePoll(wait)
  }
}

const schedulePoll = (ms: number): void => {
  clearTimeout(timer)
  if (watching) timer = setTimeout(poll, document.hidden ? IDLE_POLL_MS : ms)
}

/** Checks for changes at once when the user returns to the tab or goes online. */
const now = (): void => {
  if (!document.hidden) void poll()
}

/** Keeps visible data up to date. Returns a function that stops it. */
export const startPolling = (): (() => void) => {
  watching = true
  version = undefined
  void poll()
  document.addEventListener('visibilitychange', now)
  addEventListener('online', now)
  const offline = (): void => {
    online.value = false
  }
  addEventListener('offline', offline)
  return () => {
    watching = false
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', now)
    removeEventListener('online', now)
    removeEventListener('offline', offline)
  }
}

/** Checks for changes at once, after a user's action. */
export const pollNow = (): void => void poll()
