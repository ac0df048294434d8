import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'
import {
  HideReview,
  hideReview,
  listReviewsForAdmin,
  ModeratedReviewSchema,
  presentModeratedReview,
  reviewFilters,
} from '#shared/marketplace/reviews/index.ts'

const list = defineEndpoint({
  id: 'admin.reviews.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/reviews',
  caller: 'admin',
  role: 'moderator',
  summary: 'List reviews of all apps, newest first',
  description: 'Includes hidden reviews.',
  query: () => offsetQuery(reviewFilters()),
  list: 'offset',
  response: ModeratedReviewSchema,
  handler: async ({ work, query }) => {
    const { items, total } = await listReviewsForAdmin(work, query)
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
  summary: 'Hide a review or show it again',
  description:
    'A hidden review disappears immediately from the app’s reviews and rating. The workspace that wrote it is ' +
    'notified, still sees it, and can edit or delete it. It stays hidden until you show it again. If the workspace ' +
    'deletes a hidden review and writes a new one, the new one starts out hidden.',
  body: HideReview,
  response: ModeratedReviewSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => hideReview(work, caller, params.id, body),
})

export const endpoints = [list, hide]
