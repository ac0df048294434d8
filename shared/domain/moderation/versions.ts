import { type App, AppEntity, type Version, VersionEntity } from '../../entities/apps.ts'
import { ReviewClaimEntity, ReviewItemEntity } from '../../entities/review-queue.ts'
import { fail } from '../../kernel/errors.ts'
import { missing } from '../../table/expressions.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import { newAppMessage } from '../correspondence/messages.ts'
import type { Deps, Work } from '../deps.ts'
import { loadManifest } from '../versions/manifest.ts'
import { presentVersion } from '../versions/present.ts'
import { isModerated } from '../versions/publish.ts'
import { endClaim } from './claim.ts'
import type { ModeratedVersionView } from './schemas.ts'
import { dequeued } from './waiting.ts'

/**
 * `POST …/versions/{vid}/approve`: the developer may promote it then.
 * @throws `not_found`; `conflict` for one that does not wait, or while another moderator has claimed the app
 */
export const approveVersion = (work: Work, moderator: Moderator, appId: string, id: string) =>
  decideVersion(work, moderator, appId, id, 'approved', undefined)

/** `POST …/versions/{vid}/reject`, with the reason for the developer. Throws as above. */
export const rejectVersion = (work: Work, moderator: Moderator, appId: string, id: string, reason: string) =>
  decideVersion(work, moderator, appId, id, 'rejected', reason)

const decideVersion = async (
  work: Work,
  moderator: Moderator,
  app_id: string,
  id: string,
  status: 'approved' | 'rejected',
  reason: string | undefined,
): Promise<ModeratedVersionView> => {
  const [app, version, item, claim] = await work.table.getAll([
    { entity: AppEntity, key: AppEntity.key({ id: app_id }) },
    { entity: VersionEntity, key: VersionEntity.key({ app_id, id }) },
    { entity: ReviewItemEntity, key: ReviewItemEntity.key({ app_id, subject: id }) },
    { entity: ReviewClaimEntity, key: ReviewClaimEntity.key({ app_id }) },
  ] as const)
  if (!app || !version) throw fail('not_found', { message: 'The app has no such version.' })
  if (!waits(app, version)) throw doesNotWait(app, version)
  const decided: Version = { ...version, status, status_reason: reason }
  const view = await viewVersion(work, app, decided)
  const author = { type: 'moderator', id: moderator.admin.id, name: moderator.admin.name } as const
  await work.commit(
    [
      VersionEntity.update(
        version,
        { set: { status, status_reason: reason } },
        { where: { status: version.status }, otherwise: decidedMeanwhile },
      ),
      // A version that is promoted meanwhile is in use: it is not rejected any more.
      AppEntity.check(app, {
        where: { promoted_version_id: app.promoted_version_id ?? missing, status: app.status },
        otherwise: decidedMeanwhile,
      }),
      ...dequeued(item, decidedMeanwhile),
      ...endClaim(work, moderator, app_id, claim, decidedMeanwhile),
      ...newAppMessage(work, app, author, says(version, status, reason)).writes,
      auditStaff(
        work,
        moderator,
        `version.${status}`,
        { type: 'app', id: app_id },
        {
          before: { status: version.status },
          after: { status },
          version_id: id,
          version: version.version,
          ...(reason !== undefined && { reason }),
        },
      ),
    ],
    view,
  )
  return view
}

/** Those published before the app's approval wait as well, though nobody put them into the queue. */
const waits = (app: App, { id, status }: Version): boolean =>
  status === 'in_review' || (status === 'published' && isModerated(app) && app.promoted_version_id !== id)

const says = ({ version }: Version, status: 'approved' | 'rejected', reason: string | undefined): string =>
  status === 'approved'
    ? `Version ${version} was approved. You can promote it now.`
    : `Version ${version} was rejected. ${reason}`

export const viewVersion = async (
  deps: Pick<Deps, 'objects'>,
  app: App,
  version: Version,
): Promise<ModeratedVersionView> => ({
  ...presentVersion(app, version, await loadManifest(deps, version)),
  app_id: app.id,
  status_reason: version.status_reason ?? null,
  runtime_type: version.runtime_type,
  endpoint: version.endpoint ?? null,
})

const doesNotWait = (app: App, { version, status }: Version) =>
  fail('conflict', {
    message: `Version ${version} does not wait for moderation: it is ${status.replace('_', ' ')}.`,
    fix: isModerated(app)
      ? 'See GET /admin/review.'
      : 'It is looked at with its app: use POST /admin/apps/{id}/approve or reject.',
  })

const decidedMeanwhile = () =>
  fail('conflict', { message: 'The version was decided on meanwhile.', fix: 'Look at it again.' })
