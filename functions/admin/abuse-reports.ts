import * as z from 'zod'
import { readTotal } from '#shared/foundation/totals/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery, readOffsetPage } from '#shared/http/offset-paging.ts'
import {
  ABUSE_STATUSES,
  AbuseReportEntity,
  abuseLists,
  abuseSources,
  ModeratedAbuseReportSchema,
  presentModeratedReport,
  ResolveAbuse,
  resolveAbuse,
} from '#shared/moderation/abuse/index.ts'
import { pageAtOffset } from '#shared/table/lists.ts'

const list = defineEndpoint({
  id: 'admin.abuseReports.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/abuse-reports',
  caller: 'admin',
  role: 'moderator',
  summary: 'List abuse reports, newest first',
  query: () => offsetQuery({ status: z.enum(ABUSE_STATUSES).optional().meta({ description: 'Default: all.' }) }),
  list: 'offset',
  response: ModeratedAbuseReportSchema,
  handler: ({ work, query }) =>
    readOffsetPage(
      query,
      () => readTotal(work, abuseLists(query.status)),
      (at) => pageAtOffset(work.table, AbuseReportEntity, abuseSources(query.status), at),
      presentModeratedReport,
    ),
})

const resolve = defineEndpoint({
  id: 'admin.abuseReports.resolve',
  group: 'admin',
  method: 'POST',
  path: '/admin/abuse-reports/{id}/resolve',
  params: { id: 'abuseReport' },
  caller: 'admin',
  role: 'moderator',
  summary: 'Resolve an abuse report',
  description:
    'Notifies the person who reported the app of the outcome, but not of the reason. Resolving a report doesn’t ' +
    'change the app: use `POST /admin/apps/{id}/suspend` or `POST /admin/apps/{id}/delist` for that. If two ' +
    'moderators resolve the same report, the second gets `conflict`.',
  body: ResolveAbuse,
  response: ModeratedAbuseReportSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => resolveAbuse(work, caller, params.id, body),
})

export const endpoints = [list, resolve]
