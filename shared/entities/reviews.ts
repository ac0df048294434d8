import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

export const REVIEW_STARS = [1, 2, 3, 4, 5] as const

const review = () =>
  z.object({
    id: z.string(),
    app_id: z.string(),
    developer_id: z.string(),
    workspace_id: z.string(),
    /** As it was called when the review was last written. */
    workspace_name: z.string(),
    author: z.object({ id: z.string(), name: z.string() }),
    rating: z.number(),
    text: z.string().optional(),
    /** Taken out of list and aggregates by a moderator. */
    hidden: z.boolean(),
    /** Why a moderator hid it, or showed it again. */
    hidden_reason: z.string().optional(),
    reply: z.object({ text: z.string(), at: z.number() }).optional(),
    /** Raised by every change: of two at once, one reads again. */
    revision: z.number(),
    created_at: z.number(),
    updated_at: z.number(),
  })

export type Review = z.infer<ReturnType<typeof review>>

/** An app's reviews that everybody sees. */
export const reviewsOf = (appId: string): string => `${appId}#REVIEWS`

export const ReviewEntity = defineEntity<Review>()({
  name: 'review',
  schema: review,
  pk: 'REV#{id}',
  sk: 'REV',
  directory: ({ id }) => ({ list: 'reviews', sort: id }),
  list: ({ app_id, hidden, id }) => (hidden ? undefined : { owner: reviewsOf(app_id), sort: id }),
})

const workspaceReview = () =>
  z.object({
    workspace_id: z.string(),
    app_id: z.string(),
    review_id: z.string(),
    /** The organization removed the review while it was hidden, for this reason: its next one begins hidden. */
    held: z.object({ reason: z.string().optional() }).optional(),
  })

/**
 * Which review an organization has written of an app; written with it, so that there is one. It outlives a review that was removed
 * while hidden: `review_id` then leads to nothing any more.
 */
export const WorkspaceReviewEntity = defineEntity<z.infer<ReturnType<typeof workspaceReview>>>()({
  name: 'workspace-review',
  schema: workspaceReview,
  pk: 'WS#{workspace_id}',
  sk: 'REVIEWOF#{app_id}',
})

const developerReview = () =>
  z.object({ developer_id: z.string(), review_id: z.string(), answered: z.boolean(), hidden: z.boolean() })

/** A developer's reviews that wait for a reply. */
export const unansweredOf = (developerId: string): string => `${developerId}#UNANSWERED`

/** The reviews of all of a developer's apps, newest first by id; written with the review. */
export const DeveloperReviewEntity = defineEntity<z.infer<ReturnType<typeof developerReview>>>()({
  name: 'developer-review',
  schema: developerReview,
  pk: 'DEV#{developer_id}',
  sk: 'REVIEW#{review_id}',
  list: ({ developer_id, review_id, answered, hidden }) =>
    answered || hidden ? undefined : { owner: unansweredOf(developer_id), sort: review_id },
})

const appReview = () => z.object({ app_id: z.string(), review_id: z.string(), rating: z.number(), hidden: z.boolean() })

export type AppReview = z.infer<ReturnType<typeof appReview>>

/** Reviews of one rating, hidden or not: all apps' together. */
export const reviewsBy = ({ rating, hidden }: Pick<AppReview, 'rating' | 'hidden'>): string =>
  `reviews-${hidden ? 'hidden' : 'visible'}-${rating}`

/** The same of one app. */
export const appReviewsBy = (appId: string, which: Pick<AppReview, 'rating' | 'hidden'>): string =>
  `${appId}#${reviewsBy(which)}`

/** Where staff finds a review by what it says and whether it is hidden. Written whole with every change of the review. */
export const AppReviewEntity = defineEntity<AppReview>()({
  name: 'app-review',
  schema: appReview,
  pk: 'APP#{app_id}',
  sk: 'REVIEW#{review_id}',
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

/** How many reviews of an app have how many stars: visible ones `n…`, hidden ones `h…`. Moved in the review's transaction. */
export const ReviewTotalsEntity = defineEntity<ReviewTotals>()({
  name: 'review-totals',
  schema: reviewTotals,
  pk: 'APP#{app_id}',
  sk: 'REVIEWS',
})

export const REQUEST_STATUSES = ['open', 'claimed', 'fulfilled', 'declined'] as const

const agentRequest = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    title: z.string(),
    description: z.string(),
    votes: z.number(),
    status: z.enum(REQUEST_STATUSES),
    /** The developer who builds it. */
    claimed_by: z.object({ id: z.string(), name: z.string() }).optional(),
    claimed_at: z.number().optional(),
    /** The person who asked; nobody outside of their organization and the platform's staff learns it. */
    asked_by: z.string().optional(),
    /** What staff says to the latest status that they gave it. */
    status_reason: z.string().optional(),
    created_at: z.number(),
    /** By when it must have found its place among the votes again. */
    due_at: z.number().optional(),
  })

export type AgentRequest = z.infer<ReturnType<typeof agentRequest>>

/** The board of one status. */
export const requestsBy = (status: AgentRequest['status']): string => `agent-requests-${status}`

/** The same board, the most wanted first, the newer first among equals. */
export const requestRank = ({ status, votes, id }: Pick<AgentRequest, 'status' | 'votes' | 'id'>) => ({
  owner: `${requestsBy(status)}#VOTES`,
  sort: `${String(votes).padStart(9, '0')}#${id}`,
})

/** An agent that customers wish for. A change of status writes it whole, so that it moves among the boards. */
export const AgentRequestEntity = defineEntity<AgentRequest>()({
  name: 'agent-request',
  schema: agentRequest,
  pk: 'ARQ#{id}',
  sk: 'ARQ',
  due: true,
  directory: ({ status, id }) => ({ list: requestsBy(status), sort: id }),
  list: requestRank,
})

const requestVote = () => z.object({ request_id: z.string(), user_id: z.string(), created_at: z.number() })

/** Where a person's votes are listed, whatever workspace they voted from. */
export const votesOf = (userId: string): string => `${userId}#VOTES`

/** A person's vote for a request: there is one, however often and from wherever they vote. Moved with the request's count. */
export const RequestVoteEntity = defineEntity<z.infer<ReturnType<typeof requestVote>>>()({
  name: 'request-vote',
  schema: requestVote,
  pk: 'ARQ#{request_id}',
  sk: 'VOTE#{user_id}',
  list: ({ user_id, request_id }) => ({ owner: votesOf(user_id), sort: request_id }),
})

const askedRequest = () => z.object({ workspace_id: z.string(), user_id: z.string(), request_id: z.string() })

/** The requests that one person made in a workspace. */
export const askedBy = (workspaceId: string, userId: string): string => `${workspaceId}#${userId}#ASKED`

/** Which requests come from a workspace; written with the request. */
export const AskedRequestEntity = defineEntity<z.infer<ReturnType<typeof askedRequest>>>()({
  name: 'asked-request',
  schema: askedRequest,
  pk: 'WS#{workspace_id}',
  sk: 'ASKED#{request_id}',
  list: ({ workspace_id, user_id, request_id }) => ({ owner: askedBy(workspace_id, user_id), sort: request_id }),
})
