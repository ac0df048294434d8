import { miniApp } from './config.ts'
import { adoptSession, clearSession, type Session, session } from './session.ts'

/** Time to wait for an answer from another tab, in milliseconds. */
const TIMEOUT_MS = 250

type TabMessage = { asks: true } | { has: Session } | { ended: true }

/** Channel between the tabs of this origin. Telegram has only one tab. */
const channel = !miniApp && 'BroadcastChannel' in window ? new BroadcastChannel('console-session') : undefined

const broadcast = (message: TabMessage): void => channel?.postMessage(message)

/** Asks open tabs for their session. Nothing is stored, so the session ends when the last tab closes. */
export const askOtherTabs = (): Promise<void> =>
  new Promise((resolve) => {
    if (!channel || session()) return resolve()
    const timer = setTimeout(resolve, TIMEOUT_MS)
    const listen = ({ data }: MessageEvent<TabMessage>): void => {
      if (!('has' in data) || session()) return
      adoptSession(data.has)
      clearTimeout(timer)
      channel.removeEventListener('message', listen)
      resolve()
    }
    channel.addEventListener('message', listen)
    broadcast({ asks: true })
  })

/** Shares the session with new tabs, and signs out when another tab does. */
export const shareWithTabs = (whenEnded: () => void): void =>
  channel?.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    const own = session()
    if ('asks' in data && own) broadcast({ has: own })
    if ('ended' in data && own) {
      clearSession()
      whenEnded()
    }
  })

/** Signs out all other tabs. */
export const signOutTabs = (): void => broadcast({ ended: true })
