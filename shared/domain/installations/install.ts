import type { App, Version } from '../../entities/apps.ts'
import {
  AppInstallationEntity,
  type Installation,
  InstallationEntity,
  InstallationPlaceEntity,
  installationsBy,
} from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { auditEntry } from '../audit/write.ts'
import { refuseDelisted } from '../consents/permitted.ts'
import type { Work } from '../deps.ts'
import { counted } from '../totals.ts'
import { tellInstallation } from './tell.ts'
import { attached } from './version.ts'

export interface Install {
  app: App
  /** The version a new installation gets. */
  version: Version
  workspace: Workspace
  /** What was granted now; it replaces what was granted before. */
  scopes: readonly string[]
  /** Who installs: a person, or for `sandbox` the developer. */
  owner: { id: string; name: string }
  /**
   * A test installation by its developer: an existing one is moved to `version` too. Otherwise an existing installation
   * stays on the version it has until its owner upgrades it (specification "Versioning", decisions §7).
   */
  sandbox?: 'move' | 'keep'
  /** Who is on record for it, where that is not the owner: staff who test an app. */
  actor?: { type: 'admin'; id: string }
}

export interface InstallPlan {
  installation: Installation
  created: boolean
  /** True when something beside a check would be written. */
  changed: boolean
  writes: Write[]
}

/** Somebody else installed, changed or removed the app at the same time: plan again. */
class InstallationRaced extends Error {}

const raced = (): InstallationRaced => new InstallationRaced('the installation changed meanwhile')
const MAX_TRIES = 8

/**
 * What installing comes to: at most one installation per app and workspace is not revoked, guarded by
 * `AppInstallationEntity`. The writes belong into the caller's transaction; when that throws {@link InstallationRaced},
 * plan again ({@link withInstallation} does).
 * @throws `installation_suspended` for an installation that is suspended: consenting anew does not lift that;
 * `app_not_approved` for a delisted app that is not installed
 */
const planInstallation = async (work: Work, newId: string, input: Install): Promise<InstallPlan> => {
  const { app, workspace } = input
  const guard = { workspace_id: workspace.id, app_id: app.id }
  const known = await work.table.get(AppInstallationEntity, guard)
  const current =
    known && (await work.table.get(InstallationEntity, { workspace_id: workspace.id, id: known.installation_id }))
  if (current && current.status !== 'revoked') return update(work, current, input)
  refuseDelisted(app, workspace)

  const installation = fresh(work, newId, input, current?.status_reason)
  const { id, status } = installation
  return {
    installation,
    created: true,
    changed: true,
    writes: [
      known
        ? AppInstallationEntity.replace(
            { ...guard, installation_id: id },
            { where: { installation_id: known.installation_id }, otherwise: raced },
          )
        : AppInstallationEntity.create({ ...guard, installation_id: id }, { otherwise: raced }),
      InstallationEntity.create(installation),
      InstallationPlaceEntity.create({ installation_id: id, workspace_id: workspace.id }),
      counted(installationsBy(status), id, 1),
      ...toldAndAudited(work, 'installation.created', installation, input),
    ],
  }
}

/** @param held why staff had suspended the one before when it was uninstalled: installing again does not lift that */
const fresh = (
  work: Work,
  id: string,
  { app, version, workspace, scopes, owner }: Install,
  held: string | undefined,
): Installation & { status: 'active' | 'suspended' } => {
  const now = work.clock.now()
  return {
    id,
    workspace_id: workspace.id,
    app_id: app.id,
    app_slug: app.slug,
    app_name: app.name,
    status: held === undefined ? 'active' : 'suspended',
    status_reason: held,
    scopes: [...scopes],
    ...attached(version),
    is_sandbox: workspace.is_sandbox,
    allowed_callers: null,
    denied_tools: [],
    owner,
    created_at: now,
    updated_at: now,
  }
}

const update = (work: Work, current: Installation, input: Install): InstallPlan => {
  if (current.status === 'suspended') throw fail('installation_suspended')
  const { app, version, scopes, sandbox } = input
  const set = {
    app_name: app.name,
    scopes: [...scopes],
    ...(sandbox === 'move' && attached(version)),
  }
  const at = { workspace_id: current.workspace_id, id: current.id }
  // Removed or suspended since it was read: the next plan sees that.
  const active = { where: { status: 'active' as const }, otherwise: raced }
  if (sameFields(current, set)) {
    return { installation: current, created: false, changed: false, writes: [InstallationEntity.check(at, active)] }
  }
  const installation = { ...current, ...set, updated_at: work.clock.now() }
  return {
    installation,
    created: false,
    changed: true,
    writes: [
      InstallationEntity.update(at, { set: { ...set, updated_at: installation.updated_at } }, active),
      ...toldAndAudited(work, 'installation.updated', installation, input),
    ],
  }
}

const sameFields = (current: Installation, set: Partial<Installation>): boolean =>
  Object.entries(set).every(
    ([name, value]) => JSON.stringify(current[name as keyof Installation]) === JSON.stringify(value),
  )

const toldAndAudited = (
  work: Work,
  action: 'installation.created' | 'installation.updated',
  { id, workspace_id, app_id, status, scopes, version }: Installation,
  { owner, sandbox, actor }: Install,
): Write[] => [
  tellInstallation(work, action, { id, workspace_id, app_id, status, scopes }),
  auditEntry(work, {
    scope: workspace_id,
    action,
    actor: actor ?? { type: sandbox ? 'developer' : 'user', id: owner.id },
    target: { type: 'installation', id },
    details: { app_id, scopes, version },
  }),
]

/**
 * Plans an installation and hands it to `commit`, again as often as somebody else was faster.
 * @param commit writes the plan together with what belongs to it, in one transaction
 */
export const withInstallation = async <T>(
  work: Work,
  input: Install,
  commit: (plan: InstallPlan) => Promise<T>,
): Promise<T> => {
  const newId = work.id('installation')
  for (let attempt = 1; ; attempt++) {
    try {
      return await commit(await planInstallation(work, newId, input))
    } catch (error) {
      if (!(error instanceof InstallationRaced)) throw error
      if (attempt === MAX_TRIES) throw fail('conflict', { message: 'The installation keeps changing.', cause: error })
    }
  }
}

/** Makes sure that the app is installed with these scopes, in a transaction of its own. */
export const ensureInstallation = (work: Work, input: Install): Promise<Installation> =>
  withInstallation(work, input, async ({ installation, changed, writes }) => {
    if (changed) await work.commit(writes)
    return installation
  })
