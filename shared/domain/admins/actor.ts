import type { Admin } from '../../entities/platform.ts'
import type { Work } from '../deps.ts'

/** What changing staff accounts takes; the operator’s command has no more than that. */
export type StaffWork = Pick<Work, 'table' | 'clock' | 'requestId' | 'sourceIp' | 'id' | 'commit'>

/** Who of the staff acts: the account, and the key it used instead of a session. */
export interface Moderator {
  admin: Admin
  keyName: string | undefined
}

/** Who acts on staff accounts: one of the staff, or the operator of the stack. */
export type Actor = Moderator | 'operator'

export const nameOf = (actor: Actor): string => (actor === 'operator' ? actor : actor.admin.id)
