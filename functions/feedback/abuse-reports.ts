import { reportAbuse } from '#shared/domain/abuse/report.ts'
import { AbuseReportSchema, ReportAbuse } from '#shared/domain/abuse/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const report = defineEndpoint({
  id: 'console.abuseReports.create',
  group: 'console',
  method: 'POST',
  path: '/console/abuse-reports',
  caller: 'console',
  summary: 'Complain about an agent',
  description:
    'About an app that the marketplace shows, or that the organization has or had installed; any other is `not_found`. Any ' +
    'member may complain. Each person has one complaint about an app at a time: while it waits for an answer, another is ' +
    '`conflict` with its id in `details.report_id`. The app’s developer sees neither the complaint nor who made it.',
  body: ReportAbuse,
  status: 201,
  response: AbuseReportSchema,
  errors: ['not_found', 'conflict'],
  handler: ({ work, caller, body }) =>
    reportAbuse(work, { workspaceId: caller.workspace.id, userId: caller.user.id }, body),
})

export const abuseReportEndpoints = [report]
