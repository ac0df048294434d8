import { AppInstallationEntity } from '#shared/access/installations/index.ts'
import { AppEntity, loadOwnApp } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Member } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import {
  DeveloperReviewEntity,
  type Review,
  ReviewEntity,
  ReviewTotalsEntity,
  reviewsOf,
  unansweredOf,
  WorkspaceReviewEntity,
} from './entity.ts'
import { presentTotals, type ReviewTotalsView } from './schemas.ts'

type Reading = Pick<Deps, 'table'>

type Paging = Pick<QueryOptions, 'limit' | 'after'>

/** Lists an app's visible reviews, newest first. */
export const listReviews = ({ table }: Reading, appId: string, options: Paging): Promise<Page<Review>> =>
  table.listed(ReviewEntity, reviewsOf(appId), options)

/** Loads an app's review totals for its developer. @throws `not_found` for another developer's app */
export const loadTotalsForDeveloper = async (
  deps: Reading,
  developerId: string,
  appId: string,
): Promise<ReviewTotalsView> => {
  await loadOwnApp(deps, developerId, appId)
  return presentTotals(await deps.table.get(ReviewTotalsEntity, { app_id: appId }))
}

/** Loads an app's review totals for a workspace, with its own review. @throws `not_found` for an unpublished app */
export const loadTotalsForWorkspace = async (
  { table }: Reading,
  member: Member,
  app_id: string,
): Promise<ReviewTotalsView> => {
  const { workspace_id } = member
  const [app, installed, totals, own] = await table.getAll([
    AppEntity.ref({ id: app_id }),
    AppInstallationEntity.ref({ workspace_id, app_id }),
    ReviewTotalsEntity.ref({ app_id }),
    WorkspaceReviewEntity.ref({ workspace_id, app_id }),
  ])
  if (!app || (!installed && app.status !== 'approved')) throw fail('not_found', { message: 'App not found.' })
  const review = own && (await table.get(ReviewEntity, { id: own.review_id }))
  return presentTotals(totals, review && { review, member })
}

/** Lists the reviews of all of a developer's apps, newest first, optionally only those without a reply. */
export const listReviewsForDeveloper = async (
  { table }: Reading,
  developerId: string,
  unanswered: boolean,
  options: Paging,
): Promise<Page<Review>> => {
  const page = unanswered
    ? await table.listed(DeveloperReviewEntity, unansweredOf(developerId), options)
    : await table.query(DeveloperReviewEntity, { developer_id: developerId }, options)
  const reviews = (await table.getAll(page.items.map(({ review_id }) => ReviewEntity.ref({ id: review_id })))) as (
    | Review
    | undefined
  )[]
  // The index may lag behind a reply.
  const shown = reviews.filter((review): review is Review => review !== undefined && !(unanswered && review.reply))
  return { items: shown, next: page.next }
}
