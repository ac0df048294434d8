import { signal } from '@preact/signals'
import { announce } from '../../ui/announce.tsx'
import { refresh } from '../../ui/data.ts'
import { api, take } from './api.ts'

/** Whether the platform answered when it was last asked. */
export const online = signal(true)
/** Unread notifications, counted up to 100. */
export const unread = signal(0)
/** What waits for the person's word, as far as the start page knows. */
export const waiting = signal(0)

/** One cheap read; what it says has changed is asked for again, and nothing else. */
const EVERY = 3_000
/** While nobody looks, or the platform cannot be reached. */
const SELDOM = 20_000

let version: string | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let watching = false
let asking = false

const look = async (): Promise<void> => {
  clearTimeout(timer)
  if (asking || !watching) return
  asking = true
  let wait = EVERY
  try {
    const since = version
    const now = await take(api.GET('/console/updates', { params: { query: since ? { since } : {} } }))
    if (!watching) return
    version = now.version
    const changed = Object.entries(now.changed).flatMap(([topic, is]) => (is ? [`${topic} `] : []))
    // A draft is told of by a notification.
    if (now.changed.notifications) changed.push('messages messenger')
    // At first everything counts as changed, and is being read anyway; after a lost connection it is not.
    const wasOnline = online.value
    online.value = true
    if (since && now.unread_notifications > unread.value) announce('You have a new notification.')
    unread.value = now.unread_notifications
    if (since) await refresh(...changed, ...(wasOnline ? [] : ['']))
  } catch (error) {
    const { status = 0 } = error as { status?: number }
    if (status === 0) online.value = false
    wait = SELDOM
  } finally {
    asking = false
    again(wait)
  }
}

const again = (ms: number): void => {
  clearTimeout(timer)
  if (watching) timer = setTimeout(look, document.hidden ? SELDOM : ms)
}

/** Whoever comes back to the tab, or online, sees at once how it stands. */
const now = (): void => {
  if (!document.hidden) void look()
}

/** Keeps what is in view up to date. @returns ends it */
export const watch = (): (() => void) => {
  watching = true
  version = undefined
  void look()
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

/** Asks now what has changed: after something that the person did. */
export const lookNow = (): void => void look()
