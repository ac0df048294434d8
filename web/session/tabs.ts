import { miniApp } from './config.ts'
import { type Session, session, signedOut, takenOver } from './session.ts'

/** How long another tab of this page may take to answer. */
const PATIENCE = 250

type Told = { asks: true } | { has: Session } | { ended: true }

/** Between the tabs of this one origin; nobody else hears it. In the messaging app there is one tab only. */
const channel = !miniApp && 'BroadcastChannel' in window ? new BroadcastChannel('console-session') : undefined

const tell = (told: Told): void => channel?.postMessage(told)

/** A new tab takes the session of one that is open. It lives as long as a tab has it: nothing is kept beyond that. */
export const askOtherTabs = (): Promise<void> =>
  new Promise((resolve) => {
    if (!channel || session()) return resolve()
    const timer = setTimeout(resolve, PATIENCE)
    const listen = ({ data }: MessageEvent<Told>): void => {
      if (!('has' in data) || session()) return
      takenOver(data.has)
      clearTimeout(timer)
      channel.removeEventListener('message', listen)
      resolve()
    }
    channel.addEventListener('message', listen)
    tell({ asks: true })
  })

/** Answers new tabs, and ends here what was ended in another tab. */
export const shareWithTabs = (whenEnded: () => void): void =>
  channel?.addEventListener('message', ({ data }: MessageEvent<Told>) => {
    const own = session()
    if ('asks' in data && own) tell({ has: own })
    if ('ended' in data && own) {
      signedOut()
      whenEnded()
    }
  })

/** The person signed out: everywhere. */
export const endInTabs = (): void => tell({ ended: true })
