import { type App, AppEntity, type Version, VersionEntity } from '../../entities/apps.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { exists, missing } from '../../table/expressions.ts'
import { ownApp } from '../apps/read.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { loadManifest } from './manifest.ts'
import { presentVersion } from './present.ts'
import { isModerated } from './publish.ts'
import { versionByName } from './read.ts'
import type { VersionView } from './schemas.ts'

/**
 * Moves the version that new installations get; existing ones stay on theirs (decisions §7). Once the app was approved,
 * only versions that moderation approved can be promoted.
 * @throws `conflict` for a version that waits for moderation or was rejected; `not_found`
 */
export const promoteVersion = async (
  work: Work,
  developerId: string,
  appId: string,
  name: string,
): Promise<VersionView> => {
  const app = await ownApp(work, developerId, appId)
  const version = await versionByName(work, app, name)
  const promoted = app.promoted_version_id === version.id
  if (!promoted && !promotable(app, version)) throw notPromotable(version)
  const set = { promoted_version: version.version, promoted_version_id: version.id, updated_at: work.clock.now() }
  const view = presentVersion({ ...app, ...set }, version, await loadManifest(work, version))
  const changed = () => fail('conflict', { message: 'The app was changed meanwhile.', fix: 'Promote it again.' })
  await work.commit(
    [
      AppEntity.update(
        { id: appId },
        { set },
        { where: { approved_at: app.approved_at === undefined ? missing : exists }, otherwise: changed },
      ),
      VersionEntity.check(version, { where: { status: version.status }, otherwise: changed }),
      auditDeveloper(work, developerId, 'version.promoted', { type: 'app', id: appId }, { version: version.version }),
    ],
    view,
  )
  return view
}

const promotable = (app: App, { status }: Version): boolean =>
  status === 'approved' || (status === 'published' && !isModerated(app))

const notPromotable = ({ version, status }: Version): PlatformError =>
  status === 'rejected'
    ? fail('conflict', {
        message: `Moderation rejected version ${version}.`,
        fix: 'Publish a new version that answers the reasons given.',
      })
    : fail('conflict', {
        message: `Version ${version} waits for moderation: the app is approved, so its new versions are reviewed first.`,
        fix: 'Promote it once moderation has approved it.',
      })
