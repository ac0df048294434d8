import { DeveloperReviewEntity, type Review, ReviewEntity, unansweredOf } from '../../entities/reviews.ts'
import { fail } from '../../kernel/errors.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { newNotification } from '../notifications/new.ts'
import { tryAgain } from '../try-again.ts'
import { type ModeratedReviewView, presentModeratedReview } from './schemas.ts'
import { moved } from './write.ts'

/**
 * `POST /admin/reviews/{id}/hide`: takes a review out of list and aggregates, or puts it back; the aggregates move in the same
 * transaction, so they are exact also while it is edited. The organization that wrote it is notified. Done again, it changes
 * nothing.
 * @throws `not_found`
 */
export const hideReview = (
  work: Work,
  moderator: Moderator,
  id: string,
  { hidden, reason }: { hidden: boolean; reason: string },
): Promise<ModeratedReviewView> => {
  // Outside of the tries, so that each of them notifies under the same id.
  const notificationId = work.id('notification')
  return tryAgain(async () => {
    const review = await work.table.get(ReviewEntity, { id })
    if (!review) throw fail('not_found', { message: 'There is no such review.' })
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
        ...moved(review, changed),
        ...newNotification(
          { ...work, id: () => notificationId },
          {
            workspace_id,
            kind: 'review.moderated',
            title: hidden ? 'A moderator hid your review' : 'Your review is shown again',
            body: reason,
            target: { type: 'app', id: app_id },
          },
        ).writes,
        auditStaff(
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
