import {
  type App,
  AppEntity,
  AppStandingEntity,
  findLookalikes,
  listingWrites,
  presentApp,
  readListing,
  standingWrites,
  unlistingWrites,
} from '#shared/catalogue/apps/index.ts'
import {
  dequeueWrites,
  enqueueWrites,
  ReviewClaimEntity,
  ReviewItemEntity,
} from '#shared/catalogue/review-queue/index.ts'
import { VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing, oneOf, type Where } from '#shared/table/expressions.ts'
import type { Decision } from '../correspondence/entity.ts'
import { newAppMessage } from '../correspondence/messages.ts'
import { stoppageWrites } from '../suspension/stoppage-writes.ts'
import { endClaim } from './claim.ts'
import { type Accepting, acceptedLookalikes, similarTo } from './lookalikes.ts'
import type { ModeratedAppView } from './schemas.ts'

/**
 * States of an app and the actions that change them:
 *
 *     draft, rejected ──submit──► in_review ──approve──► approved ──delist──► delisted ──approve──► approved
 *                                     └──────reject────► rejected
 *     any but suspended ──suspend──► suspended ──unsuspend──► the state before the suspension
 */
type Action = 'approved' | 'rejected' | 'suspended' | 'unsuspended' | 'delisted'

/**
 * Moves `in_review` → `approved`, or `delisted` → `approved`. The promoted version counts as reviewed with its app.
 * @param examined what the moderator examined: the promoted version and the app's `updated_at`. An absent part accepts any
 * @throws `not_found`; `conflict` from another status, while another moderator has claimed the app, if the app or its
 * promoted version changed since it was examined, or if its name is confusable and that wasn't accepted. The developer may
 * edit and promote until the decision, and sees in the logs when a moderator opens the app.
 */
export const approveApp = (
  work: Work,
  moderator: Moderator,
  appId: string,
  examined: { promoted_version?: string | undefined; updated_at?: string | undefined } & Accepting,
): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'approved', undefined, async (app) => {
    if (app.status !== 'in_review' && app.status !== 'delisted') {
      throw appStateConflict(app, 'Approve only an app that is in review or delisted.')
    }
    const { id, promoted_version_id } = app
    const { promoted_version, updated_at } = examined
    if (promoted_version !== undefined && app.promoted_version !== promoted_version) {
      throw promotedSince(app, promoted_version)
    }
    if (updated_at !== undefined && Date.parse(updated_at) !== app.updated_at) throw changedConcurrently()
    const similar = await acceptedLookalikes(work, app, examined)
    return {
      set: { status: 'approved', status_reason: undefined, approved_at: work.clock.now(), ...similar.set },
      details: similar.details,
      // Developers may edit and promote until the decision. The conditions ensure that what was examined is approved.
      where: { promoted_version_id: promoted_version_id ?? missing, updated_at: app.updated_at },
      writes: promoted_version_id
        ? [
            VersionEntity.update(
              { app_id: id, id: promoted_version_id },
              { set: { status: 'approved' } },
              { where: { status: oneOf('published', 'in_review', 'approved') }, otherwise: changedConcurrently },
            ),
          ]
        : [],
      code: app.status === 'delisted' ? 'app.relisted' : 'app.approved',
    }
  })

/**
 * Moves `in_review` → `rejected`, with the reason for the developer, who may fix the app and submit it again. Throws as
 * above.
 */
export const rejectApp = (work: Work, moderator: Moderator, appId: string, reason: string): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'rejected', reason, (app) => {
    if (app.status !== 'in_review') throw appStateConflict(app, 'Reject only an app that is in review.')
    return { set: { status: 'rejected', status_reason: reason } }
  })

/**
 * Moves `approved` → `delisted`: removes the app from the marketplace at once. Existing installations keep working, and
 * approving lists it again.
 */
export const delistApp = (work: Work, moderator: Moderator, appId: string, reason: string): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'delisted', reason, (app) => {
    if (app.status !== 'approved') throw appStateConflict(app, 'Delist only an approved app.')
    return { set: { status: 'delisted', status_reason: reason } }
  })

/** Suspends an app: every token of the app is refused from the next request. */
export const suspendApp = (
  work: Work,
  moderator: Moderator,
  appId: string,
  reason: string,
): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'suspended', reason, (app) => {
    if (app.status === 'suspended') throw appStateConflict(app, 'Unsuspend it first.')
    return {
      set: { status: 'suspended', status_before: app.status, status_reason: reason },
      writes: stoppageWrites(work, { kind: 'app', id: appId, app_id: appId }),
    }
  })

/** Restores the state that the suspension interrupted. Tokens that haven't expired work again. */
export const unsuspendApp = (work: Work, moderator: Moderator, appId: string): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'unsuspended', undefined, async (app) => {
    if (app.status !== 'suspended') throw appStateConflict(app, 'Unsuspend only a suspended app.')
    const status = app.status_before ?? 'draft'
    // Another app may have been listed under a confusable name in the meantime.
    const similar = status === 'approved' ? similarTo(await findLookalikes(work, app)) : {}
    return { set: { status, status_before: undefined, status_reason: undefined, ...similar } }
  })

interface Change {
  set: { [F in keyof App]?: App[F] | undefined }
  where?: Where<Pick<App, 'promoted_version_id' | 'updated_at'>>
  writes?: Write[]
  /** Added to the audit entry. */
  details?: Record<string, unknown>
  /** Decision in the app's correspondence, if it isn't the action. */
  code?: Decision['code']
}

const decide = async (
  work: Work,
  moderator: Moderator,
  appId: string,
  action: Action,
  reason: string | undefined,
  change: (app: App) => Change | Promise<Change>,
): Promise<ModeratedAppView> => {
  const app = await work.table.get(AppEntity, { id: appId })
  if (!app) throw fail('not_found', { message: 'App not found.' })
  const { set, where, writes = [], details, code } = await change(app)
  const changed = { ...set, updated_at: work.clock.now() }
  const after = { ...app, ...changed } as App
  const view = presentModeratedApp(after)
  const [listing, waiting] = await Promise.all([
    loadListingChange(work, after),
    loadQueueWrites(work, moderator, app, after, action === 'approved' || action === 'rejected'),
  ])
  const { id, name } = moderator.admin
  await work.commit(
    [
      AppEntity.update(
        { id: appId },
        { set: changed },
        { where: { status: app.status, ...listing.where, ...where }, otherwise: changedConcurrently },
      ),
      ...writes,
      ...listing.writes,
      ...waiting,
      ...newAppMessage(work, app, { type: 'moderator', id, name }, { code: code ?? `app.${action}`, reason }).writes,
      auditAdmin(
        work,
        moderator,
        `app.${action}`,
        { type: 'app', id: appId },
        { before: app.status, after: view.status, ...details, ...(reason !== undefined && { reason }) },
      ),
    ],
    view,
  )
  return view
}

/**
 * Returns the writes that list or unlist the app. The marketplace shows an app while it is approved, under its name at
 * that time.
 */
const loadListingChange = async (work: Work, app: App) => {
  const { listed, developerName } = await readListing(work, app)
  if (app.status !== 'approved') return { where: {}, writes: unlistingWrites(listed, changedConcurrently) }
  const { name, summary, category } = app
  const listing = { app, developerName, listed_at: work.clock.now(), featured_at: listed?.featured_at }
  return {
    where: { name, summary, category: category ?? missing },
    writes: await listingWrites(listed, listing, changedConcurrently),
  }
}

/**
 * Returns the writes that move the app between the admin lists: by its new status, and into or out of the review queue.
 */
const loadQueueWrites = async (work: Work, moderator: Moderator, app: App, after: App, reviewed: boolean) => {
  const app_id = app.id
  const [standing, item, claim] = await work.table.getAll([
    AppStandingEntity.ref({ app_id }),
    ReviewItemEntity.ref({ app_id, subject: app_id }),
    ReviewClaimEntity.ref({ app_id }),
  ] as const)
  const waits = after.status === 'in_review'
  const since = after.submitted_at ?? work.clock.now()
  return [
    ...standingWrites(standing, after),
    ...(waits ? [] : dequeueWrites(item, changedConcurrently)),
    ...(waits && !item ? enqueueWrites({ app_id, kind: 'app', subject: app_id, waiting_since: since }) : []),
    ...(reviewed ? endClaim(work, moderator, app_id, claim, changedConcurrently) : []),
  ]
}

export const presentModeratedApp = (app: App): ModeratedAppView => ({
  ...presentApp(app),
  developer_id: app.developer_id,
  status_before: app.status_before ?? null,
})

export const appStateConflict = ({ status }: App, fix: string): PlatformError =>
  fail('conflict', { message: `The app is ${status.replace('_', ' ')}.`, fix })

const promotedSince = ({ promoted_version = 'none' }: App, examined: string): PlatformError =>
  fail('conflict', {
    message: `The promoted version is now ${promoted_version}, not ${examined}.`,
    fix: 'Review the promoted version, then decide.',
    details: { promoted_version },
  })

const changedConcurrently = (): PlatformError =>
  fail('conflict', { message: 'The app changed in the meantime.', fix: 'Review the app again, then decide.' })
