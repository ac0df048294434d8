import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

export const REVIEW_KINDS = ['app', 'version'] as const
export type ReviewKind = (typeof REVIEW_KINDS)[number]

const reviewItem = () =>
  z.object({
    app_id: z.string(),
    /** What waits: the app itself, or a version of an app that was approved before. */
    kind: z.enum(REVIEW_KINDS),
    /** The app's id, or the version's. */
    subject: z.string(),
    waiting_since: z.number(),
  })

export type ReviewItem = z.infer<ReturnType<typeof reviewItem>>

/** The moderation queue of one kind. */
export const reviewQueue = (kind: ReviewKind): string => `review-queue-${kind}`

/** Something that waits for moderation; written and removed with the status that makes it wait. */
export const ReviewItemEntity = defineEntity<ReviewItem>()({
  name: 'review-item',
  schema: reviewItem,
  pk: 'APP#{app_id}',
  sk: 'QUEUE#{subject}',
  directory: ({ kind, waiting_since, subject }) => ({
    list: reviewQueue(kind),
    sort: `${String(waiting_since).padStart(13, '0')}#${subject}`,
  }),
})

const reviewClaim = () =>
  z.object({
    app_id: z.string(),
    admin: z.object({ id: z.string(), name: z.string() }),
    claimed_at: z.number(),
    expires_at: z.number(),
  })

export type ReviewClaim = z.infer<ReturnType<typeof reviewClaim>>

/** The moderator who looks at what waits of an app. It ends with the decision, or by itself. */
export const ReviewClaimEntity = defineEntity<ReviewClaim>()({
  name: 'review-claim',
  schema: reviewClaim,
  pk: 'APP#{app_id}',
  sk: 'CLAIM',
  expires: ({ expires_at }) => expires_at,
})
