import * as z from 'zod'
import { REVIEW_KINDS } from '#shared/catalogue/review-queue/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'
import { ClaimApp, claimApp, listQueue, ReviewClaimSchema, ReviewItemSchema } from '#shared/moderation/review/index.ts'

const list = defineEndpoint({
  id: 'admin.review.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/review',
  caller: 'admin',
  role: 'moderator',
  summary: 'List the moderation queue, oldest first',
  description:
    'Contains apps in review, and versions and changes of approved apps that need a review before customers get them.',
  query: () => offsetQuery({ kind: z.enum(REVIEW_KINDS).optional().meta({ description: 'Default: all.' }) }),
  list: 'offset',
  response: ReviewItemSchema,
  handler: async ({ work, query }) => ({ ...(await listQueue(work, query)), limit: query.limit, offset: query.offset }),
})

const claim = defineEndpoint({
  id: 'admin.apps.claim',
  group: 'admin',
  method: 'POST',
  path: '/admin/apps/{id}/claim',
  params: { id: 'app' },
  caller: 'admin',
  role: 'moderator',
  summary: 'Claim an app for review or release it',
  description:
    'For two hours, no other moderator can decide about the app or its versions. Claiming it again restarts the two ' +
    'hours. If another moderator holds the claim, the response is `conflict` with `details.claimed_by`. Send ' +
    '`{"release": true}` to release it; a superadmin can release any claim. A decision ends the claim. You don’t ' +
    'need a claim to suspend or delist an app.',
  body: ClaimApp,
  response: ReviewClaimSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => claimApp(work, caller, params.id, body.release),
})

export const endpoints = [list, claim]
