import { miniApp } from './config.ts'
import { loadItem, removeItem, saveItem } from './store.ts'
import type { ConsoleSession } from './types.ts'

const KEY = 'console-session'

export interface Session {
  token: string
  until: number
  name: string
  workspace: string
  /** Consent link the session was created for; empty for the console. */
  link: string
}

/** Session of this page. Inside Telegram only this one counts, never a stored one. */
let own: Session | undefined

/** Returns the current session unless it has expired. */
export const session = (): Session | undefined => {
  const one = miniApp ? own : loadItem<Session>(KEY)
  return one && one.until > Date.now() ? one : undefined
}

/** Returns the last user's name, to prefill the sign-in form. */
export const lastName = (): string | undefined => loadItem<Session>(KEY)?.name

export const saveSession = ({ token, expires_in, user, workspace }: ConsoleSession, link = ''): void => {
  own = { token, until: Date.now() + expires_in * 1_000, name: user.name, workspace: workspace.id, link }
  if (!miniApp) saveItem(KEY, own)
}

/** Adopts the session of another tab. */
export const adoptSession = (one: Session): void => {
  if (!miniApp && one.until > Date.now()) saveItem(KEY, one)
}

export const clearSession = (): void => {
  own = undefined
  if (!miniApp) removeItem(KEY)
}
