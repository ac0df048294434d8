import * as z from 'zod'
import { claimApp } from '#shared/domain/moderation/claim.ts'
import { listQueue } from '#shared/domain/moderation/queue.ts'
import { ClaimApp, ReviewClaimSchema, ReviewItemSchema } from '#shared/domain/moderation/schemas.ts'
import { REVIEW_KINDS } from '#shared/entities/review-queue.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'

const list = defineEndpoint({
  id: 'admin.review.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/review',
  caller: 'admin',
  role: 'moderator',
  summary: 'The moderation queue, oldest first',
  description: 'Apps in review, and versions of approved apps that wait to be looked at before they can be promoted.',
  query: () => offsetQuery({ kind: z.enum(REVIEW_KINDS).optional().meta({ description: 'Default: both.' }) }),
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
  summary: 'Take what waits of an app, or give it back',
  description:
    'For two hours nobody else decides about the app or its versions; claiming again begins them anew. While another moderator ' +
    'has it, it is `conflict` with `details.claimed_by`. `{"release": true}` gives it back; a superadmin may release anybody’s. ' +
    'A decision ends the claim. Suspending and delisting need none.',
  body: ClaimApp,
  response: ReviewClaimSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => claimApp(work, caller, params.id, body.release),
})

export const queueEndpoints = [list, claim]
