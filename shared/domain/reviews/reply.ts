import { AppEntity } from '../../entities/apps.ts'
import { DeveloperReviewEntity, type Review, ReviewEntity } from '../../entities/reviews.ts'
import { fail } from '../../kernel/errors.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { newNotification } from '../notifications/new.ts'
import { tryAgain } from '../try-again.ts'
import { presentReview, type ReviewView } from './schemas.ts'

/**
 * `POST /api/v1/dev/reviews/{id}/reply`: the developer's one reply, which a later one replaces. The organization that wrote
 * the review is notified. Nothing else of the review can be changed from here.
 * @throws `not_found` for a review of another developer's app; `conflict` for a hidden one
 */
export const replyToReview = (work: Work, developerId: string, reviewId: string, text: string): Promise<ReviewView> => {
  // Outside of the tries, so that each of them notifies under the same id.
  const notificationId = work.id('notification')
  return tryAgain(async () => {
    const [own, review] = await work.table.getAll([
      {
        entity: DeveloperReviewEntity,
        key: DeveloperReviewEntity.key({ developer_id: developerId, review_id: reviewId }),
      },
      { entity: ReviewEntity, key: ReviewEntity.key({ id: reviewId }) },
    ])
    if (!own || !review) throw fail('not_found', { message: 'There is no such review of an app of yours.' })
    if (review.hidden) {
      throw fail('conflict', { message: 'A moderator has hidden this review.', fix: 'Nobody sees it: leave it.' })
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
        title: `${app?.name ?? 'The developer'} replied to your review`,
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
