import { totalWrite } from '#shared/foundation/totals/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { type ReviewItem, ReviewItemEntity, reviewQueue } from './entity.ts'

/** Returns the writes that add an item to the moderation queue, for the transaction that submits it. */
export const enqueueWrites = (item: ReviewItem): Write[] => [
  ReviewItemEntity.replace(item),
  totalWrite(reviewQueue(item.kind), item.subject, 1),
]

/** Returns the writes that replace a waiting item by another of the same kind, which keeps its place in the queue. */
export const requeueWrites = (was: ReviewItem, item: ReviewItem): Write[] => [
  ReviewItemEntity.delete(was, { where: { waiting_since: was.waiting_since } }),
  ReviewItemEntity.replace(item),
]

/**
 * Returns the writes that remove an item from the moderation queue, for the transaction of the decision.
 * @param item the stored item. Of two concurrent decisions one removes it.
 */
export const dequeueWrites = (item: ReviewItem | undefined, otherwise?: () => unknown): Write[] =>
  item
    ? [
        ReviewItemEntity.delete(item, { where: { waiting_since: item.waiting_since }, otherwise }),
        totalWrite(reviewQueue(item.kind), item.subject, -1),
      ]
    : []
