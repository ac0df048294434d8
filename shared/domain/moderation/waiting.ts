import { type ReviewItem, ReviewItemEntity, reviewQueue } from '../../entities/review-queue.ts'
import type { Write } from '../../table/entity.ts'
import { counted } from '../totals.ts'

/** The writes that put something into the moderation queue, for the transaction that makes it wait. */
export const enqueued = (item: ReviewItem): Write[] => [
  ReviewItemEntity.replace(item),
  counted(reviewQueue(item.kind), item.subject, 1),
]

/**
 * The writes that take it out again, for the transaction of the decision.
 * @param item as it was read; of two decisions at once one takes it out
 */
export const dequeued = (item: ReviewItem | undefined, otherwise?: () => unknown): Write[] =>
  item
    ? [
        ReviewItemEntity.delete(item, { where: { waiting_since: item.waiting_since }, otherwise }),
        counted(reviewQueue(item.kind), item.subject, -1),
      ]
    : []
