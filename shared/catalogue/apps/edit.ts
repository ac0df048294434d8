import type { Work } from '#shared/foundation/work/index.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing, type Where } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { requireAllowedAddresses } from './addresses.ts'
import { type App, AppEntity } from './entity.ts'
import { listingWrites, readListing } from './list-app.ts'
import { logoChangeWrites } from './logos.ts'
import { refuseSlugAsName } from './lookalikes.ts'
import { isModerated } from './moderated.ts'
import { presentApp } from './present.ts'
import { loadOwnApp } from './read.ts'
import { type Edit, planRevision, splitEdit } from './revise.ts'
import type { AppView, EditAppInput } from './schemas.ts'
import { resolveScreenshots } from './screenshots.ts'

/**
 * Changes the fields that were sent and replaces lists as a whole. Once the app has been approved, moderated fields wait
 * as a pending revision instead (contract/moderation.md#revisions). Adding `requested_scopes` grants nothing to existing
 * installations until their customers approve again (contract/apps-and-manifests.md#apps). Updates the marketplace
 * listing of a listed app.
 * @throws `not_found`, `blocked_target`, `validation_error` for a name that is another app's slug
 */
export const editApp = (work: Work, developerId: string, appId: string, input: EditAppInput): Promise<AppView> =>
  retryOnConflict(async () => {
    const app = await loadOwnApp(work, developerId, appId)
    requireAllowedAddresses(work, input)
    await refuseSlugAsName(work, app.slug, input.name)
    const fields = Object.keys(input)
    if (fields.length === 0) return presentApp(app)
    const moderated = isModerated(app)
    const { screenshots, ...others } = input
    const edit: Edit = { ...others, ...(screenshots && { screenshots: resolveScreenshots(app, screenshots) }) }
    const { live, pending } = moderated ? splitEdit(app, edit) : { live: allOf(edit), pending: {} }
    const revised = moderated ? await planRevision(work, app, pending) : undefined
    const dropsLogo = !moderated && input.logo_url === null
    const set = { ...live, ...(dropsLogo && { logo: undefined }), ...revised?.set, updated_at: work.clock.now() }
    const changed: App = { ...app, ...set }
    const view = presentApp(changed)
    const listing = await relisted(work, app, changed, Object.keys(live))
    await work.commit(
      [
        AppEntity.update(
          { id: appId },
          { set },
          { where: { developer_id: developerId, status: app.status, ...unrevised(app), ...listing.where } },
        ),
        ...listing.writes,
        ...(await logoChangeWrites(work, app, changed, lacksLogo(changed, input))),
        ...(revised?.writes ?? []),
        auditDeveloper(
          work,
          developerId,
          'app.updated',
          { type: 'app', id: appId },
          { fields, ...(moderated && { pending: Object.keys(pending) }) },
        ),
      ],
      view,
    )
    return view
  })

/** Reports whether the edit set the address of a logo whose image is to be fetched. */
const lacksLogo = (app: App, { logo_url: sent }: EditAppInput): boolean => {
  if (typeof sent !== 'string') return false
  const { pending_revision: revision } = app
  return isModerated(app) ? revision?.changes.logo_url === sent && revision.logo?.url !== sent : app.logo?.url !== sent
}

/** Sets every field that was sent. Null removes a value. An absent one stays, so that two people can edit at once. */
const allOf = (input: Edit): Partial<App> =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [name, value ?? undefined])) as Partial<App>

/** Conditions under which the split of an approved app's edit still holds. */
const unrevised = (app: App): Where<App> => {
  const { pending_revision_id, redirect_uris, requested_scopes } = app
  return isModerated(app)
    ? { pending_revision_id: pending_revision_id ?? missing, redirect_uris, requested_scopes }
    : { approved_at: missing }
}

/** Fields that the marketplace searches and sorts by. */
const LISTING_FIELDS: readonly string[] = ['name', 'summary', 'category']

/** Returns the writes that update the listing, with conditions on all listing fields, because it derives from all of them. */
const relisted = async (
  work: Work,
  { name, summary, category }: App,
  app: App,
  fields: readonly string[],
): Promise<{ where: Where<App>; writes: Write[] }> => {
  if (app.status !== 'approved' || !fields.some((field) => LISTING_FIELDS.includes(field)))
    return { where: {}, writes: [] }
  const { listed, developerName } = await readListing(work, app)
  if (!listed) return { where: {}, writes: [] }
  const { listed_at, featured_at } = listed
  return {
    where: { name, summary, category: category ?? missing },
    writes: await listingWrites(listed, { app, developerName, listed_at, featured_at }),
  }
}
