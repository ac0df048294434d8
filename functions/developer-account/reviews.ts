import * as z from 'zod'
import { listForDeveloper, listReviews, totalsForDeveloper } from '#shared/domain/reviews/read.ts'
import { replyToReview } from '#shared/domain/reviews/reply.ts'
import { presentReview, ReplyToReview, ReviewSchema, ReviewTotalsSchema } from '#shared/domain/reviews/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const common = { group: 'developer', caller: 'developer' } as const

const list = defineEndpoint({
  ...common,
  id: 'developer.reviews.list',
  method: 'GET',
  path: '/api/v1/dev/reviews',
  summary: 'List the reviews of all of the developer’s apps, newest first',
  query: () =>
    pageQuery({
      unanswered: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: '`true`: only visible ones without a reply.' }),
    }),
  list: 'page',
  response: ReviewSchema,
  handler: ({ work, caller, query }) => {
    const unanswered = query.unanswered === 'true'
    return paged(
      work,
      caller,
      ['developer.reviews.list', unanswered],
      query,
      (options) => listForDeveloper(work, caller.developerId, unanswered, options),
      presentReview,
    )
  },
})

const listOfApp = defineEndpoint({
  ...common,
  id: 'developer.apps.reviews.list',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}/reviews',
  params: { id: 'app' },
  summary: 'List an app’s reviews, newest first, with their average and distribution',
  query: () => pageQuery({}),
  list: 'page',
  response: ReviewSchema,
  beside: ReviewTotalsSchema,
  handler: async ({ work, caller, params: { id }, query }) => {
    const totals = await totalsForDeveloper(work, caller.developerId, id)
    const name = ['developer.apps.reviews.list', id]
    const page = await paged(work, caller, name, query, (options) => listReviews(work, id, options), presentReview)
    return { ...totals, ...page }
  },
})

const reply = defineEndpoint({
  ...common,
  id: 'developer.reviews.reply',
  method: 'POST',
  path: '/api/v1/dev/reviews/{id}/reply',
  params: { id: 'review' },
  summary: 'Reply to a review',
  description: 'One reply per review: a later one replaces it. The organization that wrote the review is notified.',
  body: ReplyToReview,
  response: ReviewSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => replyToReview(work, caller.developerId, params.id, body.text),
})

export const reviewEndpoints = [list, listOfApp, reply]
