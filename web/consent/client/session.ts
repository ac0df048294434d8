import { localSignIn, miniApp, tg } from './config.ts'
import { forget, keep, read } from './store.ts'
import type { ConsoleSession } from './types.ts'

const KEY = 'console-session'

interface Session {
  token: string
  until: number
  name: string
  workspace: string
  /** The link that it was made for. */
  link: string
}

/** In the messaging app only the session made from its own data counts, whatever was kept elsewhere. */
let own: Session | undefined

/**
 * Who is signed in. The first person to open a link owns it: where several people are at hand (local development), the
 * page asks who for every link.
 */
export const session = (): Session | undefined => {
  const one = miniApp ? own : read<Session>(KEY)
  return one && one.until > Date.now() && (!localSignIn || one.link === tg) ? one : undefined
}

/** Who was signed in last, to offer the name again. */
export const lastName = (): string | undefined => read<Session>(KEY)?.name

export const signedIn = ({ token, expires_in, user, workspace }: ConsoleSession): void => {
  own = { token, until: Date.now() + expires_in * 1_000, name: user.name, workspace: workspace.id, link: tg }
  if (!miniApp) keep(KEY, own)
}

export const signedOut = (): void => {
  own = undefined
  if (!miniApp) forget(KEY)
}
