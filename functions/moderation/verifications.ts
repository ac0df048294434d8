import * as z from 'zod'
import { totalOf } from '#shared/domain/totals.ts'
import {
  decideVerification,
  presentModeratedVerification,
  verificationLists,
  verificationSources,
} from '#shared/domain/verification/decide.ts'
import { DecideVerification, ModeratedVerificationSchema } from '#shared/domain/verification/schemas.ts'
import { VERIFICATION_STATUSES, VerificationEntity } from '#shared/entities/moderation.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { observed, offsetQuery } from '#shared/http/offset-paging.ts'
import { skipTo } from '#shared/table/lists.ts'

const list = defineEndpoint({
  id: 'admin.verifications.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/verifications',
  caller: 'admin',
  role: 'moderator',
  summary: 'List developers’ applications for the verified badge, newest first',
  query: () => offsetQuery({ status: z.enum(VERIFICATION_STATUSES).optional().meta({ description: 'Default: all.' }) }),
  list: 'offset',
  response: ModeratedVerificationSchema,
  handler: ({ work, query }) =>
    observed(
      query,
      () => totalOf(work, verificationLists(query.status)),
      (at) => skipTo(work.table, VerificationEntity, verificationSources(query.status), at),
      presentModeratedVerification,
    ),
})

const decide = defineEndpoint({
  id: 'admin.verifications.decide',
  group: 'admin',
  method: 'POST',
  path: '/admin/verifications/{id}/decide',
  params: { id: 'verification' },
  caller: 'admin',
  role: 'moderator',
  summary: 'Decide on an application for the verified badge',
  description:
    'Approved, the developer and all of their apps show the badge at once, in the marketplace too. Rejected, they may apply again. ' +
    'The reason is for the developer: `GET /api/v1/dev/verification`. Of two moderators one decides, the other gets `conflict`.',
  body: DecideVerification,
  response: ModeratedVerificationSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => decideVerification(work, caller, params.id, body),
})

export const verificationEndpoints = [list, decide]
