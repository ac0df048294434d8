export { ReviewEntity, ReviewTotalsEntity, WorkspaceReviewEntity } from './entity.ts'
export { hideReview } from './hide.ts'
export { listReviewsForAdmin } from './list-for-admin.ts'
export { listReviews, listReviewsForDeveloper, loadTotalsForDeveloper, loadTotalsForWorkspace } from './read.ts'
export { replyToReview } from './reply.ts'
export {
  HideReview,
  hiddenCount,
  ModeratedReviewSchema,
  presentModeratedReview,
  presentReview,
  presentTotals,
  ReplyToReview,
  ReviewSchema,
  ReviewTotalsSchema,
  reviewFilters,
  WriteReview,
} from './schemas.ts'
export { removeReview, writeReview } from './write.ts'
