import { loadItem, removeItem, saveItem } from '../../session/store.ts'

const KEY = 'developer-session'

interface Kept {
  token: string
  until: number
}

/** Returns the session's key until it expires. It is kept in this tab only and never put in a URL. */
export const token = (): string | undefined => {
  const kept = loadItem<Kept>(KEY)
  return kept && kept.until > Date.now() ? kept.token : undefined
}

export const saveToken = (made: { session_key: string; expires_in: number }): void =>
  saveItem(KEY, { token: made.session_key, until: Date.now() + made.expires_in * 1_000 })

export const clearToken = (): void => removeItem(KEY)
