import { localSignIn } from '../../session/config.ts'
import * as kept from '../../session/session.ts'
import type { ConsoleSession } from '../../session/types.ts'
import { tg } from './config.ts'

/**
 * Who is signed in. The first person to open a link owns it: where several people are at hand (local development), the
 * page asks who for every link.
 */
export const session = (): kept.Session | undefined => {
  const one = kept.session()
  return one && (!localSignIn || one.link === tg) ? one : undefined
}

export const signedIn = (made: ConsoleSession): void => kept.signedIn(made, tg)
