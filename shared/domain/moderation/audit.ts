import { AuditEntity } from '../../entities/platform.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import type { Moderator } from './decide.ts'

/** The audit entry of what staff did, for the same transaction. Names the key that was used instead of a session. */
export const auditModerator = (
  work: Work,
  { admin, keyName }: Moderator,
  action: string,
  target: { type: string; id: string },
  details: Record<string, unknown> = {},
): Write =>
  AuditEntity.create({
    id: work.id('audit'),
    scope: 'platform',
    action,
    actor: { type: 'admin', id: admin.id },
    target,
    source_ip: work.sourceIp,
    request_id: work.requestId,
    details: { ...details, ...(keyName !== undefined && { key_name: keyName }) },
    created_at: work.clock.now(),
  })
