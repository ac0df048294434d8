import type { Work } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { msg } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'
import { type AuditEntry, auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { consentEndWrites } from '../installations/end-consent.ts'
import { InstallationEntity } from '../installations/entity.ts'
import { GrantEntity } from './entity.ts'

/** The ids that codes and refresh tokens of one chain share. */
interface ChainOf {
  app_id: string
  workspace_id: string
  installation_id: string
  grant_id: string
}

const REASONS = {
  refresh_token_reuse: msg(
    'We revoked it as a precaution because an old refresh token was used again. If you trust the app, connect it again.',
  ),
  code_reuse: msg(
    'We revoked it as a precaution because an authorization code was used twice. If you trust the app, connect it again.',
  ),
} as const

type Reason = keyof typeof REASONS | 'client_request' | 'customer' | 'uninstalled'

/**
 * Writes that end a grant, once, with an audit entry. Every token of the chain stops working with the grant's status, the
 * callback tokens of its runs included, and the grant leaves the customer's list. For a grant that has ended already or
 * doesn't exist, the condition fails with `ConditionFailed`. They don't change the installation: see {@link endGrant}.
 * @param actor default: the app itself, because it presented the token
 */
export const endGrantWrites = (
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
 * Ends a grant and takes its scopes from the installation, in one transaction. Idempotent.
 *
 *     consents: A, B ──A ends──► B: the scopes of B remain
 *     consents: B ──B ends──► none: access withdrawn, until somebody consents again
 *
 * @param commit writes the transaction
 * @returns false if it had ended already
 */
export const endGrant = (
  work: Work,
  chain: ChainOf,
  { reason, actor }: { reason: Reason; actor?: AuditEntry['actor'] },
  commit: (writes: Write[]) => Promise<void>,
): Promise<boolean> =>
  retryOnConflict(async () => {
    const { workspace_id, installation_id, grant_id } = chain
    const [grant, installation] = await work.table.getAll([
      GrantEntity.ref({ installation_id, id: grant_id }),
      InstallationEntity.ref({ workspace_id, id: installation_id }),
    ] as const)
    if (grant?.status !== 'active') return false
    await commit([
      ...endGrantWrites(work, chain, reason, actor),
      ...(installation ? await consentEndWrites(work, installation, grant) : []),
    ])
    return true
  })

/**
 * Ends a grant because one of its secrets was presented a second time, so someone else may hold a copy (RFC 9700
 * §4.14.2, RFC 6749 §4.1.2). Notifies the customer and records the reason in the audit log. Idempotent.
 */
export const revokeChain = async (
  work: Work,
  chain: ChainOf,
  reason: keyof typeof REASONS,
  appName: string,
): Promise<void> => {
  const { app_id, workspace_id, installation_id } = chain
  const notified = newNotification(work, {
    workspace_id,
    kind: 'grant.revoked',
    title: msg('The access of {app} was revoked', { app: quoteName(appName) }),
    body: REASONS[reason],
    installation_id,
    app_id,
    target: { type: 'grant', id: chain.grant_id },
  }).writes
  await endGrant(work, chain, { reason }, (writes) => work.table.transact([...writes, ...notified]))
}
