import { type App, AppEntity, VersionEntity } from '../../entities/apps.ts'
import { type Admin, AuditEntity } from '../../entities/platform.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { missing, oneOf } from '../../table/expressions.ts'
import { presentApp } from '../apps/present.ts'
import type { Work } from '../deps.ts'
import { listingWrites, readListing, unlistingWrites } from '../marketplace/list-app.ts'
import type { ModeratedAppView } from './schemas.ts'

/** Who decides: the account, and the key it used instead of a session. */
export interface Moderator {
  admin: Admin
  keyName: string | undefined
}

/**
 * The states of an app and who moves it:
 *
 *     draft, rejected ──submit──► in_review ──approve──► approved
 *                                     └──────reject────► rejected
 *     any but suspended ──suspend──► suspended ──unsuspend──► what it was before
 */
type Action = 'approved' | 'rejected' | 'suspended' | 'unsuspended'

/** `in_review` → `approved`. The promoted version counts as reviewed with its app. */
export const approveApp = (work: Work, moderator: Moderator, appId: string): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'approved', undefined, (app) => {
    if (app.status !== 'in_review') throw wrongState(app, 'Only an app in review can be approved.')
    const { id, promoted_version_id } = app
    return {
      set: { status: 'approved', status_reason: undefined, approved_at: work.clock.now() },
      // Promoting goes on until the decision: what is approved is the version that was looked at.
      where: { promoted_version_id },
      writes: promoted_version_id
        ? [
            VersionEntity.update(
              { app_id: id, id: promoted_version_id },
              { set: { status: 'approved' } },
              { where: { status: oneOf('published', 'in_review', 'approved') }, otherwise: changedMeanwhile },
            ),
          ]
        : [],
    }
  })

/** `in_review` → `rejected`, with the reason for the developer, who may mend it and submit again. */
export const rejectApp = (work: Work, moderator: Moderator, appId: string, reason: string): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'rejected', reason, (app) => {
    if (app.status !== 'in_review') throw wrongState(app, 'Only an app in review can be rejected.')
    return { set: { status: 'rejected', status_reason: reason } }
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
    return { set: { status: 'suspended', status_before: app.status, status_reason: reason } }
  })

/** Back to the state that the suspension interrupted. Tokens work again as far as they have not expired. */
export const unsuspendApp = (work: Work, moderator: Moderator, appId: string): Promise<ModeratedAppView> =>
  decide(work, moderator, appId, 'unsuspended', undefined, (app) => {
    if (app.status !== 'suspended') throw wrongState(app, 'Only a suspended app can be unsuspended.')
    return { set: { status: app.status_before ?? 'draft', status_before: undefined, status_reason: undefined } }
  })

interface Change {
  set: { [F in keyof App]?: App[F] | undefined }
  where?: { promoted_version_id: string | undefined }
  writes?: Write[]
}

const decide = async (
  work: Work,
  { admin, keyName }: Moderator,
  appId: string,
  action: Action,
  reason: string | undefined,
  change: (app: App) => Change,
): Promise<ModeratedAppView> => {
  const app = await work.table.get(AppEntity, { id: appId })
  if (!app) throw fail('not_found', { message: 'There is no such app.' })
  const { set, where, writes = [] } = change(app)
  const changed = { ...set, updated_at: work.clock.now() }
  const after = { ...app, ...changed } as App
  const view = presentModerated(after)
  const listing = await listingOf(work, after)
  await work.commit(
    [
      AppEntity.update(
        { id: appId },
        { set: changed },
        { where: { status: app.status, ...listing.where, ...where }, otherwise: changedMeanwhile },
      ),
      ...writes,
      ...listing.writes,
      AuditEntity.create({
        id: work.id('audit'),
        scope: 'platform',
        action: `app.${action}`,
        actor: { type: 'admin', id: admin.id },
        target: { type: 'app', id: appId },
        source_ip: work.sourceIp,
        details: {
          before: app.status,
          after: view.status,
          ...(reason !== undefined && { reason }),
          ...(keyName !== undefined && { key_name: keyName }),
        },
        created_at: work.clock.now(),
      }),
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

const presentModerated = (app: App): ModeratedAppView => ({
  ...presentApp(app),
  developer_id: app.developer_id,
  status_before: app.status_before ?? null,
})

const wrongState = ({ status }: App, fix: string): PlatformError =>
  fail('conflict', { message: `The app is ${status.replace('_', ' ')}.`, fix })

const changedMeanwhile = (): PlatformError =>
  fail('conflict', { message: 'The app was changed meanwhile.', fix: 'Look at it again and decide then.' })
