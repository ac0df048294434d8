export {
  REVIEW_KINDS,
  type ReviewClaim,
  ReviewClaimEntity,
  type ReviewItem,
  ReviewItemEntity,
  type ReviewKind,
  reviewQueue,
} from './entity.ts'
export { dequeueWrites, enqueueWrites } from './writes.ts'
