import { loadItem, removeItem, saveItem } from '../../session/store.ts'

const KEY = 'admin-session'

interface Kept {
  token: string
  until: number
  email: string
}

/** Returns the admin's token until it expires. It is kept in this tab only and never put in a URL. */
export const token = (): string | undefined => {
  const kept = loadItem<Kept>(KEY)
  return kept && kept.until > Date.now() ? kept.token : undefined
}

/** Returns the last admin's email, to prefill the sign-in form. */
export const lastEmail = (): string => loadItem<Kept>(KEY)?.email ?? ''

export const saveToken = (made: { token: string; expires_in: number; admin: { email: string } }): void =>
  saveItem(KEY, { token: made.token, until: Date.now() + made.expires_in * 1_000, email: made.admin.email })

export const clearToken = (): void => removeItem(KEY)
