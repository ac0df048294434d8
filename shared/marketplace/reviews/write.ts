import { AppInstallationEntity } from '#shared/access/installations/index.ts'
import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import { totalWrite } from '#shared/foundation/totals/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { type Belonging, type Member, roleCheck } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { exists } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import {
  AppReviewEntity,
  DeveloperReviewEntity,
  type Review,
  ReviewEntity,
  ReviewTotalsEntity,
  reviewsBy,
  WorkspaceReviewEntity,
} from './entity.ts'
import { canChange, presentReview, type ReviewView } from './schemas.ts'

/** Statuses of an app that was never published to customers. */
const UNPUBLISHED: readonly App['status'][] = ['draft', 'in_review', 'rejected']

/**
 * Handles `PUT /console/apps/{id}/review`: writes a workspace's only review of an app that it has or had installed.
 * Writing it again changes it. If the previous review was removed while hidden, the new one starts hidden for the same
 * reason. The aggregates change in the same transaction, so they stay exact under concurrent writes.
 * @throws `not_found`; `forbidden` if the workspace never installed the app or is a sandbox; `admin_required` for another
 * person's review
 */
export const writeReview = (
  work: Work,
  { workspace, member }: Belonging,
  appId: string,
  input: { rating: number; text?: string | undefined },
): Promise<ReviewView> =>
  retryOnConflict(async () => {
    const { app, installed, own, current } = await read(work, workspace.id, appId)
    if (!app || (!installed && UNPUBLISHED.includes(app.status))) throw noApp()
    if (!installed || workspace.is_sandbox) throw notACustomer()
    const permitted = current ? changeChecks(current, member) : []
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
          ...stampOf(work.id('review')),
          app_id: app.id,
          developer_id: app.developer_id,
          workspace_id: workspace.id,
          hidden: own?.held !== undefined,
          hidden_reason: own?.held?.reason,
          revision: 0,
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
        ...reviewIndexWrites(current, review),
        AppInstallationEntity.check({ workspace_id: workspace.id, app_id: app.id }, { where: {} }),
        ...permitted,
      ],
      view,
    )
    return view
  })

interface Removal {
  workspace: { id: string }
  /** Person who removes it. Undefined when the workspace itself is removed. */
  member?: Member
}

/**
 * Handles `DELETE /console/apps/{id}/review`. After a hidden review the next one starts hidden too, because only a moderator
 * may undo that.
 * @throws `not_found` if the workspace has no review; `admin_required` for another person's review
 */
export const removeReview = (work: Work, { workspace, member }: Removal, appId: string): Promise<void> =>
  retryOnConflict(async () => {
    const { current } = await read(work, workspace.id, appId)
    if (!current) throw fail('not_found', { message: 'Your workspace hasn’t reviewed this app.' })
    const permitted = member ? changeChecks(current, member) : []
    const { id: review_id, app_id, developer_id, revision, hidden, hidden_reason } = current
    const place = { workspace_id: workspace.id, app_id, review_id }
    await work.commit([
      ReviewEntity.delete(current, { where: { id: exists, revision } }),
      hidden
        ? WorkspaceReviewEntity.replace({ ...place, held: { reason: hidden_reason } })
        : WorkspaceReviewEntity.delete(place),
      DeveloperReviewEntity.delete({ developer_id, review_id }),
      ...reviewIndexWrites(current, undefined),
      ...permitted,
    ])
  })

/**
 * Returns the conditions under which a person may change or remove their workspace's review: they wrote it, or are an admin.
 * @throws `admin_required`
 */
const changeChecks = (review: Review, member: Member): Write[] => {
  if (!canChange(review, member)) {
    throw fail('admin_required', {
      message: `${review.author.name} wrote this review. Changing or deleting it requires the role admin.`,
      fix: `Ask ${review.author.name}, or an admin of the workspace.`,
    })
  }
  return review.author.id === member.user_id ? [] : [roleCheck(member, 'admin')]
}

const read = async ({ table }: Pick<Work, 'table'>, workspace_id: string, app_id: string) => {
  const [app, installed, own] = await table.getAll([
    AppEntity.ref({ id: app_id }),
    AppInstallationEntity.ref({ workspace_id, app_id }),
    WorkspaceReviewEntity.ref({ workspace_id, app_id }),
  ])
  return { app, installed, own, current: own && (await table.get(ReviewEntity, { id: own.review_id })) }
}

type Placed = Pick<Review, 'id' | 'app_id' | 'rating' | 'hidden'>

/** Returns the field of an app's aggregates that counts the review. */
const fieldOf = ({ rating, hidden }: Placed): string => `${hidden ? 'h' : 'n'}${rating}`

/** Writes that update an app's aggregates and the admins' index after a review changed. Undefined: created or deleted. */
export const reviewIndexWrites = (before: Placed | undefined, after: Placed | undefined): Write[] => {
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
    ...(before ? [totalWrite(reviewsBy(before), review_id, -1)] : []),
    ...(after ? [totalWrite(reviewsBy(after), review_id, 1)] : []),
  ]
}

const noApp = () => fail('not_found', { message: 'App not found.' })

const notACustomer = () =>
  fail('forbidden', {
    message: 'Only workspaces that have installed the app can review it.',
    fix: 'Install the app first, in a workspace that isn’t a sandbox.',
  })
