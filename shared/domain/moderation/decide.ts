import { type App, AppEntity, VersionEntity } from '../../entities/apps.ts'
import { AppStandingEntity } from '../../entities/moderation.ts'
import { ReviewClaimEntity, ReviewItemEntity } from '../../entities/review-queue.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { missing, oneOf, type Where } from '../../table/expressions.ts'
import type { Moderator } from '../admins/actor.ts'
import { presentApp } from '../apps/present.ts'
import { auditStaff } from '../audit/write.ts'
import { newAppMessage } from '../correspondence/messages.ts'
import type { Work } from '../deps.ts'
import { listingWrites, readListing, unlistingWrites } from '../marketplace/list-app.ts'
import { stoppageWrites } from '../suspension/begin.ts'
import { endClaim } from './claim.ts'
import type { ModeratedAppView } from './schemas.ts'
import { standingWrites } from './standing.ts'
import { dequeued, enqueued } from './waiting.ts'

/**
 * The states of an app and who moves it:
 *
 *     draft, rejected ──submit──► in_review ──approve──► approved ──delist──► delisted ──approve──► approved
 *                                     └──────reject────► rejected
 *     any but suspended ──suspend──► suspended ──unsuspend──► what it was before
 */
type Action = 'approved' | 'rejected' | 'suspended' | 'unsuspended' | 'delisted'

/**
 * `in_review` → `approved`, or back from `delisted`. The promoted version counts as reviewed with its app.
 * @param lookedAt the version that the moderator looked at; undefined for whichever is promoted
 * @throws `not_found`; `conflict` from another status, while another moderator has claimed it, or when another version was
 * promoted than was looked at: the developer may do that until the decision, and sees in their logs when somebody looks
 */
export const approveApp = (
  work: Work,
  moderator: Moderator,
  appId: string,
  lookedAt: string | undefined,
): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'approved', undefined, (app) => {
    if (app.status !== 'in_review' && app.status !== 'delisted') {
      throw wrongState(app, 'Only an app in review, or a delisted one, can be approved.')
    }
    const { id, promoted_version_id } = app
    if (lookedAt !== undefined && app.promoted_version !== lookedAt) throw promotedSince(app, lookedAt)
    return {
      set: { status: 'approved', status_reason: undefined, approved_at: work.clock.now() },
      // Promoting goes on until the decision: what is approved is the version that was looked at.
      where: { promoted_version_id: promoted_version_id ?? missing },
      writes: promoted_version_id
        ? [
            VersionEntity.update(
              { app_id: id, id: promoted_version_id },
              { set: { status: 'approved' } },
              { where: { status: oneOf('published', 'in_review', 'approved') }, otherwise: changedMeanwhile },
            ),
          ]
        : [],
      message: app.status === 'delisted' ? 'The app is back in the marketplace.' : 'The app was approved.',
    }
  })

/** `in_review` → `rejected`, with the reason for the developer, who may mend it and submit again. Throws as above. */
export const rejectApp = (work: Work, moderator: Moderator, appId: string, reason: string): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'rejected', reason, (app) => {
    if (app.status !== 'in_review') throw wrongState(app, 'Only an app in review can be rejected.')
    return { set: { status: 'rejected', status_reason: reason }, message: `The app was rejected. ${reason}` }
  })

/** `approved` → `delisted`: out of the marketplace at once, while existing installations go on. Approving lists it again. */
export const delistApp = (work: Work, moderator: Moderator, appId: string, reason: string): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'delisted', reason, (app) => {
    if (app.status !== 'approved') throw wrongState(app, 'Only an approved app can be delisted.')
    return {
      set: { status: 'delisted', status_reason: reason },
      message: `The app was taken out of the marketplace. Existing installations go on. ${reason}`,
    }
  })

/** The kill switch: every token of the app is refused from the next request on. */
export const suspendApp = (
  work: Work,
  moderator: Moderator,
  appId: string,
  reason: string,
): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'suspended', reason, (app) => {
    if (app.status === 'suspended') throw wrongState(app, 'Unsuspend it first.')
    return {
      set: { status: 'suspended', status_before: app.status, status_reason: reason },
      writes: stoppageWrites(work, { kind: 'app', id: appId, app_id: appId }),
      message: `The app was suspended. ${reason}`,
    }
  })

/** Back to the state that the suspension interrupted. Tokens work again as far as they have not expired. */
export const unsuspendApp = (work: Work, moderator: Moderator, appId: string): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'unsuspended', undefined, (app) => {
    if (app.status !== 'suspended') throw wrongState(app, 'Only a suspended app can be unsuspended.')
    return {
      set: { status: app.status_before ?? 'draft', status_before: undefined, status_reason: undefined },
      message: 'The app’s suspension was ended.',
    }
  })

interface Change {
  set: { [F in keyof App]?: App[F] | undefined }
  where?: Where<Pick<App, 'promoted_version_id'>>
  writes?: Write[]
  /** What the developer reads in the app's correspondence. */
  message: string
}

const decide = async (
  work: Work,
  moderator: Moderator,
  appId: string,
  action: Action,
  reason: string | undefined,
  change: (app: App) => Change,
): Promise<ModeratedAppView> => {
  const app = await work.table.get(AppEntity, { id: appId })
  if (!app) throw fail('not_found', { message: 'There is no such app.' })
  const { set, where, writes = [], message } = change(app)
  const changed = { ...set, updated_at: work.clock.now() }
  const after = { ...app, ...changed } as App
  const view = presentModerated(after)
  const [listing, waiting] = await Promise.all([
    listingOf(work, after),
    waitingOf(work, moderator, app, after, action === 'approved' || action === 'rejected'),
  ])
  const { id, name } = moderator.admin
  await work.commit(
    [
      AppEntity.update(
        { id: appId },
        { set: changed },
        { where: { status: app.status, ...listing.where, ...where }, otherwise: changedMeanwhile },
      ),
      ...writes,
      ...listing.writes,
      ...waiting,
      ...newAppMessage(work, app, { type: 'moderator', id, name }, message).writes,
      auditStaff(
        work,
        moderator,
        `app.${action}`,
        { type: 'app', id: appId },
        { before: app.status, after: view.status, ...(reason !== undefined && { reason }) },
      ),
    ],
    view,
  )
  return view
}

/** The marketplace shows an app while it is approved, by what it is called then. */
const listingOf = async (work: Work, app: App) => {
  const { listed, developerName } = await readListing(work, app)
  if (app.status !== 'approved') return { where: {}, writes: unlistingWrites(listed, changedMeanwhile) }
  const { name, summary, category } = app
  const listing = { app, developerName, listed_at: work.clock.now(), featured_at: listed?.featured_at }
  return {
    where: { name, summary, category: category ?? missing },
    writes: listingWrites(listed, listing, changedMeanwhile),
  }
}

/** Where staff finds it: among the apps of its new status, and in the queue or no longer. */
const waitingOf = async (work: Work, moderator: Moderator, app: App, after: App, reviewed: boolean) => {
  const app_id = app.id
  const [standing, item, claim] = await work.table.getAll([
    { entity: AppStandingEntity, key: AppStandingEntity.key({ app_id }) },
    { entity: ReviewItemEntity, key: ReviewItemEntity.key({ app_id, subject: app_id }) },
    { entity: ReviewClaimEntity, key: ReviewClaimEntity.key({ app_id }) },
  ] as const)
  const waits = after.status === 'in_review'
  const since = after.submitted_at ?? work.clock.now()
  return [
    ...standingWrites(standing, after),
    ...(waits ? [] : dequeued(item, changedMeanwhile)),
    ...(waits && !item ? enqueued({ app_id, kind: 'app', subject: app_id, waiting_since: since }) : []),
    ...(reviewed ? endClaim(work, moderator, app_id, claim, changedMeanwhile) : []),
  ]
}

export const presentModerated = (app: App): ModeratedAppView => ({
  ...presentApp(app),
  developer_id: app.developer_id,
  status_before: app.status_before ?? null,
})

export const wrongState = ({ status }: App, fix: string): PlatformError =>
  fail('conflict', { message: `The app is ${status.replace('_', ' ')}.`, fix })

const promotedSince = ({ promoted_version = 'none' }: App, lookedAt: string): PlatformError =>
  fail('conflict', {
    message: `The version that is promoted now is ${promoted_version}, not ${lookedAt}.`,
    fix: 'Look at that one and decide then.',
    details: { promoted_version },
  })

const changedMeanwhile = (): PlatformError =>
  fail('conflict', { message: 'The app was changed meanwhile.', fix: 'Look at it again and decide then.' })
