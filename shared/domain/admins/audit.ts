import { type Admin, AuditEntity } from '../../entities/platform.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'

/** What changing staff accounts takes; the operator’s command has no more than that. */
export type StaffWork = Pick<Work, 'table' | 'clock' | 'requestId' | 'sourceIp' | 'id' | 'commit'>

/** Who acts on staff accounts: an admin, with the key it used instead of a session; or the operator of the stack. */
export type Actor = { admin: Admin; keyName: string | undefined } | 'operator'

export const nameOf = (actor: Actor): string => (actor === 'operator' ? actor : actor.admin.id)

/** The audit entry of a change of staff accounts and keys, for the same transaction. Never holds a password or a key. */
export const auditStaff = (
  work: StaffWork,
  actor: Actor,
  action: string,
  target: { type: string; id: string },
  details: Record<string, unknown> = {},
): Write => {
  const keyName = actor === 'operator' ? undefined : actor.keyName
  return AuditEntity.create({
    id: work.id('audit'),
    scope: 'platform',
    action,
    actor: actor === 'operator' ? { type: 'system', id: 'operator' } : { type: 'admin', id: actor.admin.id },
    target,
    source_ip: work.sourceIp,
    request_id: work.requestId,
    details: { ...details, ...(keyName !== undefined && { key_name: keyName }) },
    created_at: work.clock.now(),
  })
}
