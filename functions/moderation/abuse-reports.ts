import * as z from 'zod'
import { abuseLists, abuseSources, resolveAbuse } from '#shared/domain/abuse/resolve.ts'
import { ModeratedAbuseReportSchema, presentModeratedReport, ResolveAbuse } from '#shared/domain/abuse/schemas.ts'
import { totalOf } from '#shared/domain/totals.ts'
import { ABUSE_STATUSES, AbuseReportEntity } from '#shared/entities/abuse.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { observed, offsetQuery } from '#shared/http/offset-paging.ts'
import { skipTo } from '#shared/table/lists.ts'

const list = defineEndpoint({
  id: 'admin.abuseReports.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/abuse-reports',
  caller: 'admin',
  role: 'moderator',
  summary: 'List complaints about agents, newest first',
  query: () => offsetQuery({ status: z.enum(ABUSE_STATUSES).optional().meta({ description: 'Default: all.' }) }),
  list: 'offset',
  response: ModeratedAbuseReportSchema,
  handler: ({ work, query }) =>
    observed(
      query,
      () => totalOf(work, abuseLists(query.status)),
      (at) => skipTo(work.table, AbuseReportEntity, abuseSources(query.status), at),
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
  summary: 'Resolve a complaint',
  description:
    'Whoever complained is notified of the outcome, not of the reason. What follows for the app is decided there: ' +
    '`POST /admin/apps/{id}/suspend`, `…/delist`. Of two moderators one resolves it, the other gets `conflict`.',
  body: ResolveAbuse,
  response: ModeratedAbuseReportSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => resolveAbuse(work, caller, params.id, body),
})

export const abuseReportEndpoints = [list, resolve]
