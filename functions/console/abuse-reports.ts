import { defineEndpoint } from '#shared/http/endpoint.ts'
import { AbuseReportSchema, ReportAbuse, reportAbuse } from '#shared/moderation/abuse/index.ts'

const report = defineEndpoint({
  id: 'console.abuseReports.create',
  group: 'console',
  method: 'POST',
  path: '/console/abuse-reports',
  caller: 'console',
  summary: 'Report an app',
  description:
    'You can report an app that the marketplace lists, or that the workspace has or had installed; any other app is ' +
    '`not_found`. Every member can report apps. You can have one open report for each app: while it is waiting, ' +
    'another one gets `conflict` with its ID in `details.report_id`. The app’s developer sees neither the report nor ' +
    'who made it.',
  body: ReportAbuse,
  status: 201,
  response: AbuseReportSchema,
  errors: ['not_found', 'conflict'],
  handler: ({ work, caller, body }) =>
    reportAbuse(work, { workspaceId: caller.workspace.id, userId: caller.user.id }, body),
})

export const endpoints = [report]
