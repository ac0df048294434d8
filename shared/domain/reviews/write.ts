import { type App, AppEntity } from '../../entities/apps.ts'
import { AppInstallationEntity } from '../../entities/installations.ts'
import {
  AppReviewEntity,
  DeveloperReviewEntity,
  type Review,
  ReviewEntity,
  ReviewTotalsEntity,
  reviewsBy,
  WorkspaceReviewEntity,
} from '../../entities/reviews.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { exists } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import type { Belonging } from '../people/memberships.ts'
import { counted } from '../totals.ts'
import { tryAgain } from '../try-again.ts'
import { presentReview, type ReviewView } from './schemas.ts'

/** States in which customers have not met the app. */
const UNPUBLISHED: readonly App['status'][] = ['draft', 'in_review', 'rejected']

/**
 * `PUT /console/apps/{id}/review`: an organization's one review of an app that it has installed, now or before; written
 * again, it changes. Where the one before was removed while hidden, it begins hidden, for the same reason. The aggregates move in
 * the same transaction, so they are exact whoever writes at once.
 * @throws `not_found`; `forbidden` when the organization has not installed the app, or is a sandbox
 */
export const writeReview = (
  work: Work,
  { workspace, member }: Belonging,
  appId: string,
  input: { rating: number; text?: string | undefined },
): Promise<ReviewView> =>
  tryAgain(async () => {
    const { app, installed, own, current } = await read(work, workspace.id, appId)
    if (!app || (!installed && UNPUBLISHED.includes(app.status))) throw noApp()
    if (!installed || workspace.is_sandbox) throw notACustomer()
    const now = work.clock.now()
    const fields = {
      rating: input.rating,
      text: input.text,
      workspace_name: workspace.name,
      author: { id: member.user_id, name: member.name },
      updated_at: now,
    }
    const review: Review = current
      ? { ...current, ...fields, revision: current.revision + 1 }
      : {
          ...fields,
          id: work.id('review'),
          app_id: app.id,
          developer_id: app.developer_id,
          workspace_id: workspace.id,
          hidden: own?.held !== undefined,
          hidden_reason: own?.held?.reason,
          revision: 0,
          created_at: now,
        }
    const { id: review_id, developer_id, hidden } = review
    const place = { workspace_id: workspace.id, app_id: app.id, review_id }
    const view = presentReview(review)
    await work.commit(
      [
        ...(current
          ? [ReviewEntity.replace(review, { where: { revision: current.revision } })]
          : [
              ReviewEntity.create(review),
              own?.held
                ? WorkspaceReviewEntity.replace(place, { where: { review_id: own.review_id } })
                : WorkspaceReviewEntity.create(place),
              DeveloperReviewEntity.create({ developer_id, review_id, answered: false, hidden }),
            ]),
        ...moved(current, review),
        AppInstallationEntity.check({ workspace_id: workspace.id, app_id: app.id }, { where: {} }),
      ],
      view,
    )
    return view
  })

/**
 * `DELETE /console/apps/{id}/review`. That it was hidden is kept: a moderator undoes that, nobody else.
 * @throws `not_found` when there is none
 */
export const removeReview = (work: Work, { workspace }: { workspace: { id: string } }, appId: string): Promise<void> =>
  tryAgain(async () => {
    const { current } = await read(work, workspace.id, appId)
    if (!current) throw fail('not_found', { message: 'The organization has written no review of this app.' })
    const { id: review_id, app_id, developer_id, revision, hidden, hidden_reason } = current
    const place = { workspace_id: workspace.id, app_id, review_id }
    await work.commit([
      ReviewEntity.delete(current, { where: { id: exists, revision } }),
      hidden
        ? WorkspaceReviewEntity.replace({ ...place, held: { reason: hidden_reason } })
        : WorkspaceReviewEntity.delete(place),
      DeveloperReviewEntity.delete({ developer_id, review_id }),
      ...moved(current, undefined),
    ])
  })

const read = async ({ table }: Pick<Work, 'table'>, workspace_id: string, app_id: string) => {
  const [app, installed, own] = await table.getAll([
    { entity: AppEntity, key: AppEntity.key({ id: app_id }) },
    { entity: AppInstallationEntity, key: AppInstallationEntity.key({ workspace_id, app_id }) },
    { entity: WorkspaceReviewEntity, key: WorkspaceReviewEntity.key({ workspace_id, app_id }) },
  ])
  return { app, installed, own, current: own && (await table.get(ReviewEntity, { id: own.review_id })) }
}

type Placed = Pick<Review, 'id' | 'app_id' | 'rating' | 'hidden'>

/** The field of an app's aggregates that counts the review. */
const fieldOf = ({ rating, hidden }: Placed): string => `${hidden ? 'h' : 'n'}${rating}`

/** What the change of a review moves: its app's aggregates, and where staff finds it. Undefined: it is new, or goes. */
export const moved = (before: Placed | undefined, after: Placed | undefined): Write[] => {
  const review = after ?? before
  if (!review) return []
  const { app_id, id: review_id } = review
  const [from, to] = [before && fieldOf(before), after && fieldOf(after)]
  if (from === to) return []
  const add = { ...(from !== undefined && { [from]: -1 }), ...(to !== undefined && { [to]: 1 }) }
  return [
    ReviewTotalsEntity.upsert({ app_id }, { set: { app_id }, add }),
    after
      ? AppReviewEntity.replace({ app_id, review_id, rating: after.rating, hidden: after.hidden })
      : AppReviewEntity.delete({ app_id, review_id }),
    ...(before ? [counted(reviewsBy(before), review_id, -1)] : []),
    ...(after ? [counted(reviewsBy(after), review_id, 1)] : []),
  ]
}

const noApp = () => fail('not_found', { message: 'There is no such app.' })

const notACustomer = () =>
  fail('forbidden', {
    message: 'Only an organization that has installed the app may review it.',
    fix: 'Install the app first. Sandbox workspaces write no reviews.',
  })
