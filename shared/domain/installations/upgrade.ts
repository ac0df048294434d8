import * as z from 'zod'
import { type App, AppEntity, type Version } from '../../entities/apps.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import { fail } from '../../kernel/errors.ts'
import { covers, isScope } from '../../kernel/scopes.ts'
import { missing } from '../../table/expressions.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import type { Belonging } from '../people/memberships.ts'
import { tryAgain } from '../try-again.ts'
import { loadManifest } from '../versions/manifest.ts'
import { InstallationDetailsSchema, presentDetails } from './present.ts'
import { installedApp } from './read.ts'
import { settingsUnder } from './settings.ts'
import { tellInstallation } from './tell.ts'
import { attached, installableVersion } from './version.ts'

/** `POST /console/installations/{id}/upgrade`. */
export const UpgradedSchema = () =>
  InstallationDetailsSchema()
    .extend({
      changed: z.boolean().meta({ description: 'False when it had this version already.' }),
      missing_scopes: z.array(z.string()).meta({
        description:
          'Scopes that the version’s manifest asks for and that were never granted. Upgrading grants nothing: an admin does, ' +
          'with `POST /console/installations` or on the app’s consent page.',
      }),
    })
    .meta({ id: 'UpgradedInstallation' })

export type UpgradedView = z.infer<ReturnType<typeof UpgradedSchema>>

/**
 * Moves an installation to its app's promoted version, whether that is newer or, after a developer went back, older
 * (decisions §7). Scopes stay as they were granted. Settings stay, too: those that the new `config` does not allow, or would
 * show though they are secrets, are not given to the agent, and count as not set until they are written anew, or the version goes back.
 * @throws `not_found`, `app_suspended`, `installation_suspended`, `no_manifest`
 */
export const upgradeInstallation = (work: Work, { workspace, member }: Belonging, id: string): Promise<UpgradedView> =>
  tryAgain(async () => {
    const { installation, app } = await installedApp(work, workspace.id, id)
    refuseSuspended(app, installation, workspace)
    const version = await installableVersion(work, app, workspace)
    const lacking = await missingScopes(work, version, installation)
    if (version.id === installation.version_id) {
      return { ...presentDetails(installation, app), changed: false, missing_scopes: lacking }
    }
    const settings_set = await settingsUnder(work, installation, version)
    const set = { ...attached(version), app_name: app.name, settings_set, updated_at: work.clock.now() }
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
        tellInstallation(work, 'installation.updated', upgraded),
      ],
      view,
    )
    return view
  })

const refuseSuspended = (app: App, installation: Installation, workspace: Belonging['workspace']): void => {
  if (app.status === 'suspended') throw fail('app_suspended')
  if (installation.status === 'suspended' || workspace.status === 'suspended') throw fail('installation_suspended')
}

const missingScopes = async (work: Work, version: Version, { scopes }: Installation): Promise<string[]> =>
  ((await loadManifest(work, version)).scopes ?? []).filter((scope) => isScope(scope) && !covers(scopes, scope))
