import { AuditEntity } from '../../entities/platform.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'

/** The audit entry of what a person did in a workspace, for the same transaction. */
export const auditPerson = (
  work: Work,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  action: string,
  target: { type: string; id: string },
  details: Record<string, unknown> = {},
): Write =>
  AuditEntity.create({
    id: work.id('audit'),
    scope: workspaceId,
    action,
    actor: { type: 'user', id: userId },
    target,
    source_ip: work.sourceIp,
    request_id: work.requestId,
    details,
    created_at: work.clock.now(),
  })
