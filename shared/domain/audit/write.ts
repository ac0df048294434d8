import { AuditEntity, type AuditEntry } from '../../entities/platform.ts'
import type { Write } from '../../table/entity.ts'
import type { Actor } from '../admins/actor.ts'
import type { Work } from '../deps.ts'

/** What an entry takes of the work that it tells of. */
type Audited = Pick<Work, 'id' | 'clock' | 'requestId' | 'sourceIp'>

type Told = Pick<AuditEntry, 'scope' | 'action' | 'actor' | 'target'> & Partial<Pick<AuditEntry, 'id' | 'details'>>

type Target = AuditEntry['target']

type Details = AuditEntry['details']

/** An entry of the audit, for the transaction of what it tells of. `scope` is a workspace's id, or `platform`. */
export const auditEntry = (work: Audited, { id, details = {}, ...told }: Told): Write =>
  AuditEntity.create({
    ...told,
    id: id ?? work.id('audit'),
    source_ip: work.sourceIp,
    request_id: work.requestId,
    details,
    created_at: work.clock.now(),
  })

/** What a person did in a workspace. */
export const auditPerson = (
  work: Audited,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  action: string,
  target: Target,
  details: Details = {},
): Write => auditEntry(work, { scope: workspaceId, action, actor: { type: 'user', id: userId }, target, details })

/** What a developer did to an app or to their account. */
export const auditDeveloper = (
  work: Audited,
  developerId: string,
  action: string,
  target: Target,
  details: Details = {},
): Write =>
  auditEntry(work, { scope: 'platform', action, actor: { type: 'developer', id: developerId }, target, details })

/** What staff did, or the operator. Names the key that was used instead of a session; never holds a password or a key. */
export const auditStaff = (work: Audited, by: Actor, action: string, target: Target, details: Details = {}): Write => {
  const actor = by === 'operator' ? { type: 'system', id: by } : { type: 'admin', id: by.admin.id }
  const key = by !== 'operator' && by.keyName !== undefined && { key_name: by.keyName }
  return auditEntry(work, { scope: 'platform', action, actor, target, details: { ...details, ...key } })
}
