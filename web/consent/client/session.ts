import { localSignIn } from '../../session/config.ts'
import * as kept from '../../session/session.ts'
import type { ConsoleSession } from '../../session/types.ts'
import { tg } from './config.ts'

/**
 * Returns the current session, if any. The first user to open a link owns it, so in local development, where anyone can
 * be anyone, the page asks for a sign-in on every link.
 */
export const session = (): kept.Session | undefined => {
  const one = kept.session()
  return one && (!localSignIn || one.link === tg) ? one : undefined
}

export const signedIn = (made: ConsoleSession): void => kept.saveSession(made, tg)
