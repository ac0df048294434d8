import { GrantEntity } from '../../entities/installations.ts'
import type { AuditEntry } from '../../entities/platform.ts'
import { ifUnchanged, type Write } from '../../table/entity.ts'
import { auditEntry } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { newNotification } from '../notifications/new.ts'

/** Whose chain it is: what codes and refresh tokens name alike. */
interface ChainOf {
  app_id: string
  workspace_id: string
  installation_id: string
  grant_id: string
}

const REASONS = {
  refresh_token_reuse: 'an old refresh token was used again',
  code_reuse: 'an authorization code was used twice',
} as const

type Reason = keyof typeof REASONS | 'client_request' | 'customer' | 'uninstalled'

/**
 * Ends a grant, once, and leaves it in the audit. Every refresh and access token of the chain dies with the grant's
 * status, and the customer no longer sees it in the list. A grant that has ended already, or is gone, fails the
 * condition: `ConditionFailed`.
 * @param actor default: the app itself, by what it presented
 */
export const endOfGrant = (
  work: Work,
  { app_id, workspace_id, installation_id, grant_id }: ChainOf,
  reason: Reason,
  actor: AuditEntry['actor'] = { type: 'app', id: app_id },
): Write[] => [
  GrantEntity.update(
    { installation_id, id: grant_id },
    { set: { status: 'revoked', revoked_reason: reason }, list: null },
    { where: { status: 'active' } },
  ),
  auditEntry(work, {
    scope: workspace_id,
    action: 'grant.revoked',
    actor,
    target: { type: 'grant', id: grant_id },
    details: { reason, installation_id },
  }),
]

/**
 * Ends a grant because one of its secrets came a second time: somebody else may hold a copy (RFC 9700 §4.14.2, RFC 6749
 * §4.1.2). The customer is notified and the audit tells why. Revoking again does nothing.
 */
export const revokeChain = async (
  work: Work,
  chain: ChainOf,
  reason: keyof typeof REASONS,
  appName: string,
): Promise<void> => {
  const { app_id, workspace_id, installation_id } = chain
  const writes = [
    ...endOfGrant(work, chain, reason),
    ...newNotification(work, {
      workspace_id,
      kind: 'grant.revoked',
      title: `Access of ${appName} was ended`,
      body: `As a precaution, because ${REASONS[reason]}. If you trust the app, connect it again.`,
      installation_id,
      app_id,
      target: { type: 'grant', id: chain.grant_id },
    }).writes,
  ]
  await ifUnchanged(work.table.transact(writes))
}
