import * as z from 'zod'
import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import { loadManifest, type Version } from '#shared/catalogue/versions/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { type Belonging, suspended } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { covers, isScope } from '#shared/kernel/scopes.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { emitInstallationEvent } from './emit.ts'
import { type Installation, InstallationEntity } from './entity.ts'
import { InstallationDetailsSchema, presentDetails } from './present.ts'
import { loadInstalled } from './read.ts'
import { listValidSettings } from './settings.ts'
import { loadInstallableVersion, versionFields } from './version.ts'

/** Response of `POST /console/installations/{id}/upgrade`. */
export const UpgradedSchema = () =>
  InstallationDetailsSchema()
    .extend({
      changed: z.boolean().meta({ description: 'False if it already had this version.' }),
      missing_scopes: z.array(z.string()).meta({
        description:
          'Scopes that the version’s manifest requests and that were never granted. An upgrade grants none. An admin grants ' +
          'them with `POST /console/installations` or on the app’s consent page.',
      }),
    })
    .meta({ id: 'UpgradedInstallation' })

export type UpgradedView = z.infer<ReturnType<typeof UpgradedSchema>>

/**
 * Moves an installation to its app's promoted version, which is older if the developer rolled back
 * (contract/installations.md#upgrading). Granted scopes stay. Settings stay too. Some are withheld from the agent and
 * count as not set: values that the new `config` doesn't allow, and secrets that it would expose. They apply again once
 * they are rewritten or the version is rolled back.
 * @throws `not_found`, `app_suspended`, `installation_suspended`, `no_manifest`
 */
export const upgradeInstallation = (work: Work, { workspace, member }: Belonging, id: string): Promise<UpgradedView> =>
  retryOnConflict(async () => {
    const { installation, app } = await loadInstalled(work, workspace.id, id)
    refuseSuspended(app, installation, workspace)
    const version = await loadInstallableVersion(work, app, workspace)
    const lacking = await missingScopes(work, version, installation)
    if (version.id === installation.version_id) {
      return { ...presentDetails(installation, app), changed: false, missing_scopes: lacking }
    }
    const settings_set = await listValidSettings(work, installation, version)
    const set = { ...versionFields(version), app_name: app.name, settings_set, updated_at: work.clock.now() }
    const upgraded: Installation = { ...installation, ...set }
    const view = { ...presentDetails(upgraded, app), changed: true, missing_scopes: lacking }
    const { version_id, settings } = installation
    await work.commit(
      [
        InstallationEntity.update(
          installation,
          { set },
          { where: { status: 'active', version_id, settings: settings ?? missing } },
        ),
        AppEntity.check(app, {
          where: { status: app.status, promoted_version_id: app.promoted_version_id ?? missing },
        }),
        auditPerson(
          work,
          { workspaceId: workspace.id, userId: member.user_id },
          'installation.upgraded',
          { type: 'installation', id },
          { before: installation.version, after: version.version },
        ),
        emitInstallationEvent(work, 'installation.updated', upgraded),
      ],
      view,
    )
    return view
  })

const refuseSuspended = (app: App, installation: Installation, workspace: Belonging['workspace']): void => {
  if (app.status === 'suspended') throw fail('app_suspended')
  if (installation.status === 'suspended' || workspace.status === 'suspended') throw suspended(workspace)
}

const missingScopes = async (work: Work, version: Version, { scopes }: Installation): Promise<string[]> =>
  ((await loadManifest(work, version)).scopes ?? []).filter((scope) => isScope(scope) && !covers(scopes, scope))
