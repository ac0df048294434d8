import type { Work } from '#shared/foundation/work/index.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import type { AuditAction } from './actions.ts'
import { type AuditEntry, AuditIntakeEntity } from './entity.ts'

/** Part of {@link Work} that an entry needs. */
type Audited = Pick<Work, 'id' | 'clock'> & Partial<Pick<Work, 'requestId' | 'sourceIp' | 'developerMember'>>

type NewEntry = Pick<AuditEntry, 'scope' | 'actor' | 'target'> & { action: AuditAction } & Partial<
    Pick<AuditEntry, 'id' | 'details' | 'private_to'>
  >

/** An admin with the key they used instead of a session, or the operator of the stack. */
type StaffActor = { admin: { id: string }; keyName: string | undefined } | 'operator'
type Target = AuditEntry['target']
type Details = AuditEntry['details']

/** Returns an audit entry for the transaction of the change. `scope` is a workspace's id, or `platform`. */
export const auditEntry = (work: Audited, { id, details = {}, ...entry }: NewEntry): Write =>
  AuditIntakeEntity.create({
    ...entry,
    ...stampOf(id ?? work.id('audit')),
    source_ip: work.sourceIp,
    request_id: work.requestId,
    details,
  })

/** Returns the entry of a person's action in a workspace. */
export const auditPerson = (
  work: Audited,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  action: AuditAction,
  target: Target,
  details: Details = {},
): Write => auditEntry(work, { scope: workspaceId, action, actor: { type: 'user', id: userId }, target, details })

/** Returns the entry of a developer's action on an app or their account. Names the teammate, if one signed in. */
export const auditDeveloper = (
  work: Audited,
  developerId: string,
  action: AuditAction,
  target: Target,
  details: Details = {},
): Write =>
  auditEntry(work, {
    scope: 'platform',
    action,
    actor: { type: 'developer', id: developerId },
    target,
    details: work.developerMember === undefined ? details : { member_id: work.developerMember, ...details },
  })

/** Returns the entry of an admin's or the operator's action. Names the key used instead of a session, never its secret. */
export const auditAdmin = (
  work: Audited,
  by: StaffActor,
  action: AuditAction,
  target: Target,
  details: Details = {},
): Write => {
  const actor = by === 'operator' ? { type: 'system', id: by } : { type: 'admin', id: by.admin.id }
  const key = by !== 'operator' && by.keyName !== undefined && { key_name: by.keyName }
  return auditEntry(work, { scope: 'platform', action, actor, target, details: { ...details, ...key } })
}
