import type { Work } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Admin } from './entity.ts'

/** Part of {@link Work} that changing admin accounts needs. The operator’s command provides only this part. */
export interface AdminWork extends Pick<Work, 'table' | 'clock' | 'requestId' | 'sourceIp' | 'id'> {
  commit(writes: readonly Write[], answer?: unknown): Promise<void>
}

/** Admin who acts, with the key used instead of a session. */
export interface Moderator {
  admin: Admin
  keyName: string | undefined
}

/** Actor on admin accounts: an admin, or the operator of the stack. */
export type Actor = Moderator | 'operator'

export const actorId = (actor: Actor): string => (actor === 'operator' ? actor : actor.admin.id)
