import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import {
  listReviews,
  listReviewsForDeveloper,
  loadTotalsForDeveloper,
  presentReview,
  ReplyToReview,
  ReviewSchema,
  ReviewTotalsSchema,
  replyToReview,
} from '#shared/marketplace/reviews/index.ts'

const common = { group: 'developer', caller: 'developer' } as const

const list = defineEndpoint({
  ...common,
  id: 'developer.reviews.list',
  method: 'GET',
  path: '/api/v1/dev/reviews',
  summary: 'List the reviews of all your apps, newest first',
  query: () =>
    pageQuery({
      unanswered: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: '`true` lists only visible reviews without a reply.' }),
    }),
  list: {
    read: ({ work, caller, query }, page) =>
      listReviewsForDeveloper(work, caller.developerId, query.unanswered === 'true', page),
    present: presentReview,
  },
  response: ReviewSchema,
})

const listOfApp = defineEndpoint({
  ...common,
  id: 'developer.apps.reviews.list',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}/reviews',
  params: { id: 'app' },
  summary: 'List an app’s reviews with its rating, newest first',
  list: {
    read: ({ work, params }, page) => listReviews(work, params.id, page),
    present: presentReview,
    also: ({ work, caller, params }) => loadTotalsForDeveloper(work, caller.developerId, params.id),
  },
  response: ReviewSchema,
  also: ReviewTotalsSchema,
})

const reply = defineEndpoint({
  ...common,
  id: 'developer.reviews.reply',
  method: 'POST',
  path: '/api/v1/dev/reviews/{id}/reply',
  params: { id: 'review' },
  summary: 'Reply to a review',
  description: 'A review has one reply; a later one replaces it. The workspace that wrote the review is notified.',
  body: ReplyToReview,
  response: ReviewSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => replyToReview(work, caller.developerId, params.id, body.text),
})

export const endpoints = [list, listOfApp, reply]
