import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  listReviews,
  loadTotalsForWorkspace,
  presentReview,
  ReviewSchema,
  ReviewTotalsSchema,
  removeReview,
  WriteReview,
  writeReview,
} from '#shared/marketplace/reviews/index.ts'

const common = { group: 'console', caller: 'console', params: { id: 'app' } } as const

const list = defineEndpoint({
  ...common,
  id: 'console.reviews.list',
  method: 'GET',
  path: '/console/apps/{id}/reviews',
  summary: 'List an app’s reviews with its rating, newest first',
  list: {
    read: ({ work, params }, page) => listReviews(work, params.id, page),
    present: presentReview,
    also: ({ work, caller, params }) => loadTotalsForWorkspace(work, caller.member, params.id),
  },
  response: ReviewSchema,
  also: ReviewTotalsSchema,
})

const write = defineEndpoint({
  ...common,
  id: 'console.reviews.write',
  method: 'PUT',
  path: '/console/apps/{id}/review',
  summary: 'Write or update the workspace’s review of an app',
  description:
    'A workspace has one review for each app, and must have installed the app to write one (`forbidden`). Once it is ' +
    'written, only its author and admins of the workspace can change it (`admin_required`). Reviews are public and ' +
    'show the workspace’s name.',
  body: WriteReview,
  response: ReviewSchema,
  errors: ['forbidden', 'admin_required', 'conflict'],
  handler: ({ work, caller, params, body }) => writeReview(work, caller, params.id, body),
})

const remove = defineEndpoint({
  ...common,
  id: 'console.reviews.remove',
  method: 'DELETE',
  path: '/console/apps/{id}/review',
  summary: 'Delete the workspace’s review of an app',
  description: 'For its author and admins of the workspace.',
  status: 204,
  errors: ['admin_required', 'conflict'],
  handler: async ({ work, caller, params }) => {
    await removeReview(work, caller, params.id)
    return undefined
  },
})

export const endpoints = [list, write, remove]
