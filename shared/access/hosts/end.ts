import type { Work } from '#shared/foundation/work/index.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { type HostGrant, HostGrantEntity } from './entity.ts'

export type EndReason = 'person' | 'admin' | 'client_request' | 'code_reuse' | 'refresh_token_reuse'

/**
 * Writes that end a grant, once, with an audit entry. Its tokens are refused from the next request on. For a grant that has
 * ended already, the condition fails with `ConditionFailed`.
 */
export const endWrites = (work: Work, grant: HostGrant, reason: EndReason, by = grant.user_id): Write[] => [
  HostGrantEntity.update(
    grant,
    { set: { status: 'revoked', revoked_reason: reason }, list: null },
    { where: { status: 'active' } },
  ),
  auditEntry(work, {
    scope: grant.workspace_id,
    action: 'host.disconnected',
    actor: { type: 'user', id: by },
    target: { type: 'grant', id: grant.id },
    details: { reason, client_id: grant.client.id, host: grant.client.host, user_id: grant.user_id },
  }),
]
