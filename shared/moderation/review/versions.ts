import { type App, AppEntity, isModerated } from '#shared/catalogue/apps/index.ts'
import { dequeueWrites, ReviewClaimEntity, ReviewItemEntity } from '#shared/catalogue/review-queue/index.ts'
import { loadManifest, presentVersion, type Version, VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { newAppMessage } from '../correspondence/messages.ts'
import { endClaim } from './claim.ts'
import type { ModeratedVersionView } from './schemas.ts'

/**
 * Handles `POST …/versions/{vid}/approve`. The developer may then promote the version.
 * @throws `not_found`; `conflict` if the version does not wait for review, or while another moderator has claimed the
 * app
 */
export const approveVersion = (work: Work, moderator: Moderator, appId: string, id: string) =>
  decideVersion(work, moderator, appId, id, 'approved', undefined)

/** Handles `POST …/versions/{vid}/reject`, with the reason for the developer. Throws as above. */
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
    AppEntity.ref({ id: app_id }),
    VersionEntity.ref({ app_id, id }),
    ReviewItemEntity.ref({ app_id, subject: id }),
    ReviewClaimEntity.ref({ app_id }),
  ] as const)
  if (!app || !version) throw fail('not_found', { message: 'The app has no such version.' })
  if (!isWaiting(app, version)) throw doesNotWait(app, version)
  const decided: Version = { ...version, status, status_reason: reason }
  const view = await viewVersion(work, app, decided)
  const author = { type: 'moderator', id: moderator.admin.id, name: moderator.admin.name } as const
  await work.commit(
    [
      VersionEntity.update(
        version,
        { set: { status, status_reason: reason } },
        { where: { status: version.status }, otherwise: decidedConcurrently },
      ),
      // A version that was promoted in the meantime is in use and can't be rejected.
      AppEntity.check(app, {
        where: { promoted_version_id: app.promoted_version_id ?? missing, status: app.status },
        otherwise: decidedConcurrently,
      }),
      ...dequeueWrites(item, decidedConcurrently),
      ...endClaim(work, moderator, app_id, claim, decidedConcurrently),
      ...newAppMessage(work, app, author, { code: `version.${status}`, version: version.version, reason }).writes,
      auditAdmin(
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

/**
 * Returns true if the version waits for review. Versions published before the app's approval wait too, without a queue
 * entry.
 */
const isWaiting = (app: App, { id, status }: Version): boolean =>
  status === 'in_review' || (status === 'published' && isModerated(app) && app.promoted_version_id !== id)

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
    message: `Version ${version} is ${status.replace('_', ' ')} and not waiting for review.`,
    fix: isModerated(app)
      ? 'List the review queue with GET /admin/review.'
      : 'Decide about its app with POST /admin/apps/{id}/approve or reject.',
  })

const decidedConcurrently = () =>
  fail('conflict', { message: 'The version was decided on in the meantime.', fix: 'Read the version again.' })
