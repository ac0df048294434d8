import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

export const REVIEW_STARS = [1, 2, 3, 4, 5] as const

const review = () =>
  z.object({
    id: z.string(),
    app_id: z.string(),
    developer_id: z.string(),
    workspace_id: z.string(),
    /** Name of the workspace when the review was last written. */
    workspace_name: z.string(),
    author: z.object({ id: z.string(), name: z.string() }),
    rating: z.number(),
    text: z.string().optional(),
    /** True if a moderator removed it from lists and aggregates. */
    hidden: z.boolean(),
    /** Moderator's reason for hiding it or showing it again. */
    hidden_reason: z.string().optional(),
    reply: z.object({ text: z.string(), at: z.number() }).optional(),
    /** Raised by every change. Of two concurrent changes, one is retried. */
    revision: z.number(),
    created_at: createdAt(),
    updated_at: z.number(),
  })

export type Review = z.infer<ReturnType<typeof review>>

/** Owner of the list of an app's public reviews. */
export const reviewsOf = (appId: string): string => `${appId}#REVIEWS`

export const ReviewEntity = defineEntity({
  name: 'review',
  schema: review,
  pk: 'REV#{id}',
  sk: 'REV',
  personal: { names: ['author'], text: ['text', 'reply'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  directory: ({ id }) => ({ list: 'reviews', sort: id }),
  list: ({ app_id, hidden, id }) => (hidden ? undefined : { owner: reviewsOf(app_id), sort: id }),
})

const workspaceReview = () =>
  z.object({
    workspace_id: z.string(),
    app_id: z.string(),
    review_id: z.string(),
    /** Set when the workspace removed the review while it was hidden. Its next review starts hidden, for this reason. */
    held: z.object({ reason: z.string().optional() }).optional(),
  })

/**
 * The review that a workspace has written of an app. Written with the review, so that there is only one. It outlives a
 * review that was removed while hidden; `review_id` then refers to no record.
 */
export const WorkspaceReviewEntity = defineEntity({
  name: 'workspace-review',
  schema: workspaceReview,
  pk: 'WS#{workspace_id}',
  sk: 'REVIEWOF#{app_id}',
  personal: { text: ['held'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const developerReview = () =>
  z.object({ developer_id: z.string(), review_id: z.string(), answered: z.boolean(), hidden: z.boolean() })

/** Owner of the list of a developer's reviews without a reply. */
export const unansweredOf = (developerId: string): string => `${developerId}#UNANSWERED`

/** A review of one of a developer's apps, newest first by id. Written with the review. */
export const DeveloperReviewEntity = defineEntity({
  name: 'developer-review',
  schema: developerReview,
  pk: 'DEV#{developer_id}',
  sk: 'REVIEW#{review_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  list: ({ developer_id, review_id, answered, hidden }) =>
    answered || hidden ? undefined : { owner: unansweredOf(developer_id), sort: review_id },
})

const appReview = () => z.object({ app_id: z.string(), review_id: z.string(), rating: z.number(), hidden: z.boolean() })

export type AppReview = z.infer<ReturnType<typeof appReview>>

/** Name of the directory with all apps' reviews of one rating, hidden or visible. */
export const reviewsBy = ({ rating, hidden }: Pick<AppReview, 'rating' | 'hidden'>): string =>
  `reviews-${hidden ? 'hidden' : 'visible'}-${rating}`

/** Owner of the list of one app's reviews of one rating, hidden or visible. */
export const appReviewsBy = (appId: string, which: Pick<AppReview, 'rating' | 'hidden'>): string =>
  `${appId}#${reviewsBy(which)}`

/** Index entry by which admins find a review by its rating and visibility. Replaced with every change of the review. */
export const AppReviewEntity = defineEntity({
  name: 'app-review',
  schema: appReview,
  pk: 'APP#{app_id}',
  sk: 'REVIEW#{review_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  directory: (review) => ({ list: reviewsBy(review), sort: review.review_id }),
  list: (review) => ({ owner: appReviewsBy(review.app_id, review), sort: review.review_id }),
})

const reviewTotals = () =>
  z.object({
    app_id: z.string(),
    n1: z.number().optional(),
    n2: z.number().optional(),
    n3: z.number().optional(),
    n4: z.number().optional(),
    n5: z.number().optional(),
    h1: z.number().optional(),
    h2: z.number().optional(),
    h3: z.number().optional(),
    h4: z.number().optional(),
    h5: z.number().optional(),
  })

export type ReviewTotals = z.infer<ReturnType<typeof reviewTotals>>

/** Number of an app's reviews per rating: visible ones `n…`, hidden ones `h…`. Changed in the review's transaction. */
export const ReviewTotalsEntity = defineEntity({
  name: 'review-totals',
  schema: reviewTotals,
  pk: 'APP#{app_id}',
  sk: 'REVIEWS',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})
