import { AppEntity } from '../../entities/apps.ts'
import { AppInstallationEntity } from '../../entities/installations.ts'
import {
  DeveloperReviewEntity,
  type Review,
  ReviewEntity,
  ReviewTotalsEntity,
  reviewsOf,
  unansweredOf,
  WorkspaceReviewEntity,
} from '../../entities/reviews.ts'
import { fail } from '../../kernel/errors.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { ownApp } from '../apps/read.ts'
import type { Deps } from '../deps.ts'
import { presentTotals, type ReviewTotalsView } from './schemas.ts'

type Reading = Pick<Deps, 'table'>
type Paging = Pick<QueryOptions, 'limit' | 'after'>

/** An app's visible reviews, newest first. */
export const listReviews = ({ table }: Reading, appId: string, options: Paging): Promise<Page<Review>> =>
  table.listed(ReviewEntity, reviewsOf(appId), options)

/** @throws `not_found` for another developer's app */
export const totalsForDeveloper = async (
  deps: Reading,
  developerId: string,
  appId: string,
): Promise<ReviewTotalsView> => {
  await ownApp(deps, developerId, appId)
  return presentTotals(await deps.table.get(ReviewTotalsEntity, { app_id: appId }), undefined)
}

/** For a customer, with the organization's own. @throws `not_found` for an app that customers have not met */
export const totalsForWorkspace = async (
  { table }: Reading,
  workspace_id: string,
  app_id: string,
): Promise<ReviewTotalsView> => {
  const [app, installed, totals, own] = await table.getAll([
    { entity: AppEntity, key: AppEntity.key({ id: app_id }) },
    { entity: AppInstallationEntity, key: AppInstallationEntity.key({ workspace_id, app_id }) },
    { entity: ReviewTotalsEntity, key: ReviewTotalsEntity.key({ app_id }) },
    { entity: WorkspaceReviewEntity, key: WorkspaceReviewEntity.key({ workspace_id, app_id }) },
  ])
  if (!app || (!installed && app.status !== 'approved')) throw fail('not_found', { message: 'There is no such app.' })
  return presentTotals(totals, own && (await table.get(ReviewEntity, { id: own.review_id })))
}

/** The reviews of all of a developer's apps, newest first; only those without a reply, if asked. */
export const listForDeveloper = async (
  { table }: Reading,
  developerId: string,
  unanswered: boolean,
  options: Paging,
): Promise<Page<Review>> => {
  const page = unanswered
    ? await table.listed(DeveloperReviewEntity, unansweredOf(developerId), options)
    : await table.query(DeveloperReviewEntity, { developer_id: developerId }, options)
  const reviews = (await table.getAll(
    page.items.map(({ review_id }) => ({ entity: ReviewEntity, key: ReviewEntity.key({ id: review_id }) })),
  )) as (Review | undefined)[]
  // The index may lag behind a reply.
  const shown = reviews.filter((review): review is Review => review !== undefined && !(unanswered && review.reply))
  return { items: shown, next: page.next }
}
