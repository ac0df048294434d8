import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Version } from '#shared/catalogue/versions/index.ts'
import { totalWrite } from '#shared/foundation/totals/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { suspended, type Workspace } from '#shared/identity/people/index.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { emitInstallationEvent } from './emit.ts'
import {
  AppInstallationEntity,
  type Consents,
  type Installation,
  InstallationEntity,
  InstallationPlaceEntity,
  installationsBy,
} from './entity.ts'
import { consentFields, sameConsents, withDirect, withGrant } from './live-consents.ts'
import { developerBlocked, refuseDelisted } from './permissions.ts'
import { versionFields } from './version.ts'

export interface Install {
  app: App
  /** Version for a new installation. */
  version: Version
  workspace: Workspace
  /** Scopes granted now. */
  scopes: readonly string[]
  /**
   * Grant to which the scopes belong, created in the same transaction. Absent for a direct install, which replaces the
   * scopes of an earlier one.
   */
  grantId?: string
  /** The person who installs the app, or the developer for `sandbox`. */
  owner: { id: string; name: string }
  /**
   * Set for a developer's test installation; `move` also moves an existing one to `version`. Other existing installations
   * stay on their version until the owner upgrades them (contract/installations.md#upgrading).
   */
  sandbox?: 'move' | 'keep'
  /** Actor for the audit log if it isn't the owner: an admin who tests the app. */
  actor?: { type: 'admin'; id: string }
}

export interface InstallPlan {
  installation: Installation
  created: boolean
  /** True if the plan writes something besides a check. */
  changed: boolean
  writes: Write[]
}

/**
 * Plans the writes of an installation. `AppInstallationEntity` guards that an app has at most one installation per
 * workspace that isn't revoked. The writes belong in the caller's transaction. If that throws {@link ConditionFailed},
 * plan again, as {@link withInstallation} does.
 * @throws `installation_suspended` for a suspended installation, because consenting again doesn't lift the suspension;
 * `app_not_approved` for a delisted app that isn't installed
 */
const planInstallation = async (work: Work, newId: string, input: Install): Promise<InstallPlan> => {
  const { app, workspace } = input
  const guard = { workspace_id: workspace.id, app_id: app.id }
  const known = await work.table.get(AppInstallationEntity, guard)
  const current =
    known && (await work.table.get(InstallationEntity, { workspace_id: workspace.id, id: known.installation_id }))
  if (current && current.status !== 'revoked') return planUpdate(work, current, input)
  refuseDelisted(app, workspace)

  const installation = newInstallation(work, newId, input, current)
  const { id, status } = installation
  return {
    installation,
    created: true,
    changed: true,
    writes: [
      known
        ? AppInstallationEntity.replace(
            { ...guard, installation_id: id },
            { where: { installation_id: known.installation_id } },
          )
        : AppInstallationEntity.create({ ...guard, installation_id: id }),
      InstallationEntity.create(installation),
      InstallationPlaceEntity.create({ installation_id: id, workspace_id: workspace.id }),
      totalWrite(installationsBy(status), id, 1),
      ...eventAndAudit(work, 'installation.created', installation, input),
    ],
  }
}

/** @param previous the workspace's last installation of the app, whose suspension and policy still apply */
const newInstallation = (
  work: Work,
  id: string,
  { app, version, workspace, scopes, grantId, owner }: Install,
  previous: Installation | undefined,
): Installation & { status: 'active' | 'suspended' } => {
  const now = work.clock.now()
  const consents = addConsent({ grants: 0, granted: {} }, { scopes, grantId })
  const suspension = previous?.status_reason
  return {
    ...stampOf(id),
    workspace_id: workspace.id,
    app_id: app.id,
    app_slug: app.slug,
    app_name: app.name,
    status: suspension === undefined ? 'active' : 'suspended',
    status_reason: suspension,
    ...consentFields({ consent_version: 0 }, consents, now),
    ...versionFields(version),
    is_sandbox: workspace.is_sandbox,
    // An owner set them, and who uninstalls an app may be less than an owner (contract/installations.md#policy).
    allowed_callers: previous?.allowed_callers ?? null,
    denied_tools: previous?.denied_tools ?? [],
    owner,
    updated_at: now,
  }
}

const addConsent = (consents: Consents, { scopes, grantId }: Pick<Install, 'scopes' | 'grantId'>): Consents =>
  grantId === undefined ? withDirect(consents, scopes) : withGrant(consents, { id: grantId, scopes: [...scopes] })

const planUpdate = async (work: Work, current: Installation, input: Install): Promise<InstallPlan> => {
  if (current.status === 'suspended') throw suspended()
  const { app, version, sandbox } = input
  const now = work.clock.now()
  const consents = addConsent(current.consents, input)
  const granted = consentFields(current, consents, now)
  const shown = {
    app_name: app.name,
    scopes: granted.scopes,
    withdrawn_at: granted.withdrawn_at,
    ...(sandbox === 'move' && versionFields(version)),
  }
  const at = { workspace_id: current.workspace_id, id: current.id }
  // If it was removed or suspended, or a consent changed since it was read, the next plan sees that.
  const unchanged = { where: { status: 'active' as const, ...sameConsents(current) } }
  const changed = !sameFields(current, shown)
  if (!changed && sameFields(current, { consents })) {
    return { installation: current, created: false, changed, writes: [InstallationEntity.check(at, unchanged)] }
  }
  const set = { ...shown, ...granted, ...(changed && { updated_at: now }) }
  const installation: Installation = { ...current, ...set }
  return {
    installation,
    created: false,
    changed: true,
    writes: [
      InstallationEntity.update(at, { set }, unchanged),
      ...(changed ? eventAndAudit(work, 'installation.updated', installation, input) : []),
    ],
  }
}

const sameFields = (current: Installation, set: Partial<Installation>): boolean =>
  Object.entries(set).every(
    ([name, value]) => canonicalJson({ value: current[name as keyof Installation] }) === canonicalJson({ value }),
  )

const eventAndAudit = (
  work: Work,
  action: 'installation.created' | 'installation.updated',
  { id, workspace_id, app_id, status, scopes, version, created_at }: Installation,
  { owner, sandbox, actor }: Install,
): Write[] => [
  emitInstallationEvent(work, action, { id, workspace_id, app_id, status, scopes, created_at }),
  auditEntry(work, {
    scope: workspace_id,
    action,
    actor: actor ?? { type: sandbox ? 'developer' : 'user', id: owner.id },
    target: { type: 'installation', id },
    details: { app_id, scopes, version },
  }),
]

/**
 * Plans an installation and passes it to `commit`. Repeats both when a concurrent change wins.
 * @param commit writes the plan together with the caller's own writes, in one transaction
 */
export const withInstallation = async <T>(
  work: Work,
  input: Install,
  commit: (plan: InstallPlan) => Promise<T>,
): Promise<T> => {
  const newId = work.id('installation')
  return retryOnConflict(async () => {
    const plan = await planInstallation(work, newId, input)
    return commit({ ...plan, writes: [...plan.writes, ...stillInstallable(input)] })
  })
}

/** Returns the check that the developer wasn't blocked since the app was read. Admins may still test the app. */
const stillInstallable = ({ app: { id }, actor }: Install): Write[] =>
  actor ? [] : [AppEntity.check({ id }, { where: { developer_blocked: missing }, otherwise: developerBlocked })]

/** Ensures that the app is installed with these scopes, in a transaction of its own. */
export const ensureInstallation = (work: Work, input: Install): Promise<Installation> =>
  withInstallation(work, input, async ({ installation, changed, writes }) => {
    if (changed) await work.commit(writes)
    return installation
  })
