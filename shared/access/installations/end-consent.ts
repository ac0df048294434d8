import type { Work } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { emitAccessWithdrawn, emitInstallationEvent } from './emit.ts'
import { type Consents, type Installation, InstallationEntity, WithdrawalEntity } from './entity.ts'
import type { Grant } from './grant-entity.ts'
import { consentFields, sameConsents, withoutGrant } from './live-consents.ts'

/** Part of {@link Work} that the end of a consent needs. */
type Ending = Pick<Work, 'table' | 'clock' | 'id' | 'requestId' | 'sourceIp'>

/**
 * Writes that take the scopes of an ending grant from its installation. If it was the last consent, access is withdrawn:
 * nothing is sent to the app any more but the event that says so, and its runs end ({@link endWithdrawnAccess}). They fail with `ConditionFailed` if another consent
 * changed since it was read. An uninstalled app has none left.
 */
export const consentEndWrites = async (work: Ending, installation: Installation, ended: Grant): Promise<Write[]> =>
  installation.status === 'revoked'
    ? []
    : consentsWrites(work, installation, await withoutGrant(work, installation.consents, ended))

/** Writes that give an installation these consents, which grant no more than before. */
const consentsWrites = (work: Ending, installation: Installation, consents: Consents): Write[] => {
  const { status } = installation
  const now = work.clock.now()
  const left = consentFields(installation, consents, now)
  const set = { ...left, updated_at: now }
  const after = { ...installation, ...set }
  const isWithdrawn = installation.withdrawn_at === undefined && left.withdrawn_at !== undefined
  const isNarrower = left.scopes.length < installation.scopes.length
  return [
    InstallationEntity.update(installation, { set }, { where: { status, ...sameConsents(installation) } }),
    ...(isWithdrawn || isNarrower
      ? [emitInstallationEvent(work, 'installation.updated', after, { isLast: isWithdrawn })]
      : []),
    ...(isWithdrawn ? withdrawalWrites(work, after, now) : []),
  ]
}

/** Writes that have the installation's runs ended, and an audit entry. */
const withdrawalWrites = (work: Ending, installation: Installation, now: number): Write[] => {
  const { id, workspace_id, app_id } = installation
  return [
    WithdrawalEntity.replace({ installation_id: id, workspace_id, created_at: now, due_at: now + MINUTE }),
    emitAccessWithdrawn(work, installation),
    auditEntry(work, {
      scope: workspace_id,
      action: 'installation.access_withdrawn',
      actor: { type: 'system', id: 'platform' },
      target: { type: 'installation', id },
      details: { app_id },
    }),
  ]
}
