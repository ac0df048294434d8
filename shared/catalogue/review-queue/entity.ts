import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

export const REVIEW_KINDS = ['app', 'version', 'revision'] as const
export type ReviewKind = (typeof REVIEW_KINDS)[number]

const reviewItem = () =>
  z.object({
    app_id: z.string(),
    /** Subject of the review: the app itself, or a version or revision of an app that was approved before. */
    kind: z.enum(REVIEW_KINDS),
    /** Id of the app, version or revision. */
    subject: z.string(),
    waiting_since: z.number(),
  })

export type ReviewItem = z.infer<ReturnType<typeof reviewItem>>

/** Returns the list of the moderation queue of one kind. */
export const reviewQueue = (kind: ReviewKind): string => `review-queue-${kind}`

/** App, version or revision that is waiting for moderation. Written and removed together with the status that makes it wait. */
export const ReviewItemEntity = defineEntity({
  name: 'review-item',
  schema: reviewItem,
  pk: 'APP#{app_id}',
  sk: 'QUEUE#{subject}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
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

/** Claim of a moderator on the reviews of an app. Ends with the decision, or by expiring. */
export const ReviewClaimEntity = defineEntity({
  name: 'review-claim',
  schema: reviewClaim,
  pk: 'APP#{app_id}',
  sk: 'CLAIM',
  personal: { names: ['admin'] },
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  expires: ({ expires_at }) => expires_at,
})
