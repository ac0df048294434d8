import { AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { msg } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { DeveloperReviewEntity, type Review, ReviewEntity } from './entity.ts'
import { presentReview, type ReviewView } from './schemas.ts'

/**
 * Handles `POST /api/v1/dev/reviews/{id}/reply`: sets the developer's only reply, which a later one replaces. The workspace
 * that wrote the review is notified. The rest of the review doesn't change.
 * @throws `not_found` for a review of another developer's app; `conflict` for a hidden review
 */
export const replyToReview = (work: Work, developerId: string, reviewId: string, text: string): Promise<ReviewView> => {
  // Created once, so that every attempt notifies under the same id.
  const notificationId = work.id('notification')
  return retryOnConflict(async () => {
    const [own, review] = await work.table.getAll([
      DeveloperReviewEntity.ref({ developer_id: developerId, review_id: reviewId }),
      ReviewEntity.ref({ id: reviewId }),
    ])
    if (!own || !review) throw fail('not_found', { message: 'None of your apps has this review.' })
    if (review.hidden) {
      throw fail('conflict', {
        message: 'A moderator has hidden this review.',
        fix: 'Reply to visible reviews only. No customer sees a hidden one.',
      })
    }
    const app = await work.table.get(AppEntity, { id: review.app_id })
    const replied: Review = {
      ...review,
      reply: { text, at: work.clock.now() },
      revision: review.revision + 1,
    }
    const view = presentReview(replied)
    const { writes } = newNotification(
      { ...work, id: () => notificationId },
      {
        workspace_id: review.workspace_id,
        kind: 'review.replied',
        title: app
          ? msg('{app} replied to your review', { app: quoteName(app.name) })
          : msg('The developer replied to your review'),
        body: text,
        app_id: review.app_id,
        target: { type: 'app', id: review.app_id },
      },
    )
    await work.commit(
      [
        ReviewEntity.replace(replied, { where: { revision: review.revision } }),
        DeveloperReviewEntity.update(own, { set: { answered: true }, list: null }),
        ...writes,
        auditDeveloper(
          work,
          developerId,
          'review.replied',
          { type: 'review', id: reviewId },
          { app_id: review.app_id, before: { replied: review.reply !== undefined }, after: { replied: true } },
        ),
      ],
      view,
    )
    return view
  })
}
