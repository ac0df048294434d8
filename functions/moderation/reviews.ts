import { hideReview } from '#shared/domain/reviews/hide.ts'
import { observeReviews } from '#shared/domain/reviews/observe.ts'
import {
  HideReview,
  ModeratedReviewSchema,
  presentModeratedReview,
  reviewFilters,
} from '#shared/domain/reviews/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'

const list = defineEndpoint({
  id: 'admin.reviews.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/reviews',
  caller: 'admin',
  role: 'moderator',
  summary: 'List all apps’ reviews, newest first',
  description: 'Hidden ones too.',
  query: () => offsetQuery(reviewFilters()),
  list: 'offset',
  response: ModeratedReviewSchema,
  handler: async ({ work, query }) => {
    const { items, total } = await observeReviews(work, query)
    return { items: items.map(presentModeratedReview), total, limit: query.limit, offset: query.offset }
  },
})

const hide = defineEndpoint({
  id: 'admin.reviews.hide',
  group: 'admin',
  method: 'POST',
  path: '/admin/reviews/{id}/hide',
  params: { id: 'review' },
  caller: 'admin',
  role: 'moderator',
  summary: 'Hide a review, or show it again',
  description:
    'A hidden review is out of the app’s list and of its average at once; it stays with the organization that wrote it, which is ' +
    'notified and may change or delete it. It stays hidden until it is shown again; one that the organization writes after it ' +
    'deleted it begins hidden.',
  body: HideReview,
  response: ModeratedReviewSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => hideReview(work, caller, params.id, body),
})

export const reviewEndpoints = [list, hide]
