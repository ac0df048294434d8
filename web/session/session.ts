import { miniApp } from './config.ts'
import { forget, keep, read } from './store.ts'
import type { ConsoleSession } from './types.ts'

const KEY = 'console-session'

export interface Session {
  token: string
  until: number
  name: string
  workspace: string
  /** The consent link that it was made for; empty for the console. */
  link: string
}

/** In the messaging app only the session made from its own data counts, whatever was kept elsewhere. */
let own: Session | undefined

/** Who is signed in, for as long as that holds. */
export const session = (): Session | undefined => {
  const one = miniApp ? own : read<Session>(KEY)
  return one && one.until > Date.now() ? one : undefined
}

/** Who was signed in last, to offer the name again. */
export const lastName = (): string | undefined => read<Session>(KEY)?.name

export const signedIn = ({ token, expires_in, user, workspace }: ConsoleSession, link = ''): void => {
  own = { token, until: Date.now() + expires_in * 1_000, name: user.name, workspace: workspace.id, link }
  if (!miniApp) keep(KEY, own)
}

/** The session of another tab of the same page. */
export const takenOver = (one: Session): void => {
  if (!miniApp && one.until > Date.now()) keep(KEY, one)
}

export const signedOut = (): void => {
  own = undefined
  if (!miniApp) forget(KEY)
}
