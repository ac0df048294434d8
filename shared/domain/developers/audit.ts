import { AuditEntity } from '../../entities/platform.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'

/** The audit entry of what a developer did to an app or to their account, for the same transaction. */
export const auditDeveloper = (
  work: Work,
  developerId: string,
  action: string,
  target: { type: string; id: string },
  details: Record<string, unknown> = {},
): Write =>
  AuditEntity.create({
    id: work.id('audit'),
    scope: 'platform',
    action,
    actor: { type: 'developer', id: developerId },
    target,
    source_ip: work.sourceIp,
    request_id: work.requestId,
    details,
    created_at: work.clock.now(),
  })
