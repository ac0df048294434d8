import { forget, keep, read } from '../../session/store.ts'

const KEY = 'admin-session'

interface Kept {
  token: string
  until: number
  email: string
}

/** The admin's token, for as long as it holds. It lives in this tab alone, and in no address. */
export const token = (): string | undefined => {
  const kept = read<Kept>(KEY)
  return kept && kept.until > Date.now() ? kept.token : undefined
}

/** Who was signed in last, to offer the address again. */
export const lastEmail = (): string => read<Kept>(KEY)?.email ?? ''

export const keepToken = (made: { token: string; expires_in: number; admin: { email: string } }): void =>
  keep(KEY, { token: made.token, until: Date.now() + made.expires_in * 1_000, email: made.admin.email })

export const forgetToken = (): void => forget(KEY)
