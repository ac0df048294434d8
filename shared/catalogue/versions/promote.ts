import type { Work } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { exists, missing } from '#shared/table/expressions.ts'
import { type App, AppEntity } from '../apps/entity.ts'
import { isModerated } from '../apps/moderated.ts'
import { loadOwnApp } from '../apps/read.ts'
import { type Version, VersionEntity } from './entity.ts'
import { loadManifest } from './manifest.ts'
import { presentVersion } from './present.ts'
import { findVersionByName } from './read.ts'
import type { VersionView } from './schemas.ts'

/**
 * Promotes a version, so that new installations get it. Existing installations keep their version
 * (contract/apps-and-manifests.md#versions-and-promotion). Once the app has been approved, only versions approved by
 * moderation can be promoted.
 * @throws `conflict` for a version that is waiting for moderation or was rejected, `not_found`
 */
export const promoteVersion = async (
  work: Work,
  developerId: string,
  appId: string,
  name: string,
): Promise<VersionView> => {
  const app = await loadOwnApp(work, developerId, appId)
  const version = await findVersionByName(work, app, name)
  const isPromoted = app.promoted_version_id === version.id
  if (!isPromoted && !canPromote(app, version)) throw notPromotable(version)
  const set = { promoted_version: version.version, promoted_version_id: version.id, updated_at: work.clock.now() }
  const view = presentVersion({ ...app, ...set }, version, await loadManifest(work, version))
  const changed = () =>
    fail('conflict', { message: 'The app was changed by another request.', fix: 'Send the request again.' })
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

const canPromote = (app: App, { status }: Version): boolean =>
  status === 'approved' || (status === 'published' && !isModerated(app))

const notPromotable = ({ version, status }: Version): PlatformError =>
  status === 'rejected'
    ? fail('conflict', {
        message: `Moderation rejected version ${version}.`,
        fix: 'Publish a new version that addresses the given reasons.',
      })
    : fail('conflict', {
        message: `Version ${version} is waiting for moderation. New versions of an approved app are reviewed first.`,
        fix: 'Promote the version after moderation has approved it.',
      })
