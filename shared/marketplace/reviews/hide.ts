import type { Work } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { msg } from '#shared/kernel/messages.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { DeveloperReviewEntity, type Review, ReviewEntity, unansweredOf } from './entity.ts'
import { type ModeratedReviewView, presentModeratedReview } from './schemas.ts'
import { reviewIndexWrites } from './write.ts'

/**
 * Handles `POST /admin/reviews/{id}/hide`: removes a review from lists and aggregates, or restores it. The aggregates
 * change in the same transaction, so they stay exact under concurrent edits. The workspace that wrote the review is
 * notified. Idempotent.
 * @throws `not_found`
 */
export const hideReview = (
  work: Work,
  moderator: Moderator,
  id: string,
  { hidden, reason }: { hidden: boolean; reason: string },
): Promise<ModeratedReviewView> => {
  // Created once, so that every attempt notifies under the same id.
  const notificationId = work.id('notification')
  return retryOnConflict(async () => {
    const review = await work.table.get(ReviewEntity, { id })
    if (!review) throw fail('not_found', { message: 'Review not found.' })
    if (review.hidden === hidden) return presentModeratedReview(review)
    const changed: Review = { ...review, hidden, hidden_reason: reason, revision: review.revision + 1 }
    const view = presentModeratedReview(changed)
    const { app_id, developer_id, workspace_id } = review
    const answered = review.reply !== undefined
    await work.commit(
      [
        ReviewEntity.replace(changed, { where: { revision: review.revision } }),
        DeveloperReviewEntity.update(
          { developer_id, review_id: id },
          {
            set: { hidden },
            list: hidden || answered ? null : { owner: unansweredOf(developer_id), sort: id },
          },
        ),
        ...reviewIndexWrites(review, changed),
        ...newNotification(
          { ...work, id: () => notificationId },
          {
            workspace_id,
            kind: 'review.moderated',
            title: hidden ? msg('A moderator hid your review') : msg('Your review is visible again'),
            body: reason,
            target: { type: 'app', id: app_id },
          },
        ).writes,
        auditAdmin(
          work,
          moderator,
          hidden ? 'review.hidden' : 'review.shown',
          { type: 'review', id },
          { before: { hidden: review.hidden }, after: { hidden }, app_id, reason },
        ),
      ],
      view,
    )
    return view
  })
}
