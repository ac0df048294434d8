import * as z from 'zod'
import { readTotal } from '#shared/foundation/totals/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery, readOffsetPage } from '#shared/http/offset-paging.ts'
import {
  DecideVerification,
  decideVerification,
  ModeratedVerificationSchema,
  presentModeratedVerification,
  VERIFICATION_STATUSES,
  VerificationEntity,
  verificationLists,
  verificationSources,
} from '#shared/moderation/verification/index.ts'
import { pageAtOffset } from '#shared/table/lists.ts'

const list = defineEndpoint({
  id: 'admin.verifications.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/verifications',
  caller: 'admin',
  role: 'moderator',
  summary: 'List applications for the verified badge, newest first',
  query: () => offsetQuery({ status: z.enum(VERIFICATION_STATUSES).optional().meta({ description: 'Default: all.' }) }),
  list: 'offset',
  response: ModeratedVerificationSchema,
  handler: ({ work, query }) =>
    readOffsetPage(
      query,
      () => readTotal(work, verificationLists(query.status)),
      (at) => pageAtOffset(work.table, VerificationEntity, verificationSources(query.status), at),
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
    'If you approve it, the developer and all of their apps show the badge immediately, including in the ' +
    'marketplace. If you reject it, the developer can apply again. The developer sees the reason in `GET ' +
    '/api/v1/dev/verification`. If two moderators decide, the second gets `conflict`.',
  body: DecideVerification,
  response: ModeratedVerificationSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => decideVerification(work, caller, params.id, body),
})

export const endpoints = [list, decide]
