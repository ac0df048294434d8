import { listReviews, totalsForWorkspace } from '#shared/domain/reviews/read.ts'
import { presentReview, ReviewSchema, ReviewTotalsSchema, WriteReview } from '#shared/domain/reviews/schemas.ts'
import { removeReview, writeReview } from '#shared/domain/reviews/write.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const common = { group: 'console', caller: 'console', params: { id: 'app' } } as const

const list = defineEndpoint({
  ...common,
  id: 'console.reviews.list',
  method: 'GET',
  path: '/console/apps/{id}/reviews',
  summary: 'List an app’s reviews, newest first, with their average and distribution',
  query: () => pageQuery({}),
  list: 'page',
  response: ReviewSchema,
  beside: ReviewTotalsSchema,
  handler: async ({ work, caller, params: { id }, query }) => {
    const totals = await totalsForWorkspace(work, caller.workspace.id, id)
    const name = ['console.reviews.list', id]
    const page = await paged(work, caller, name, query, (options) => listReviews(work, id, options), presentReview)
    return { ...totals, ...page }
  },
})

const write = defineEndpoint({
  ...common,
  id: 'console.reviews.write',
  method: 'PUT',
  path: '/console/apps/{id}/review',
  summary: 'Write the organization’s review of an app, or change it',
  description:
    'One review per organization and app. Only an organization that has installed the app may write one (`forbidden`). It ' +
    'is public with the organization’s name.',
  body: WriteReview,
  response: ReviewSchema,
  errors: ['forbidden', 'conflict'],
  handler: ({ work, caller, params, body }) => writeReview(work, caller, params.id, body),
})

const remove = defineEndpoint({
  ...common,
  id: 'console.reviews.remove',
  method: 'DELETE',
  path: '/console/apps/{id}/review',
  summary: 'Remove the organization’s review of an app',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await removeReview(work, caller, params.id)
    return undefined
  },
})

export const reviewEndpoints = [list, write, remove]
