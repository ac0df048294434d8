import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

export const ABUSE_CATEGORIES = ['malicious', 'misleading', 'data_misuse', 'inappropriate', 'spam', 'other'] as const

export const ABUSE_STATUSES = ['open', 'upheld', 'dismissed'] as const
export type AbuseStatus = (typeof ABUSE_STATUSES)[number]

const abuseReport = () =>
  z.object({
    id: z.string(),
    app_id: z.string(),
    workspace_id: z.string(),
    /** The person who reports. */
    user_id: z.string(),
    category: z.enum(ABUSE_CATEGORIES),
    text: z.string(),
    /** The run that it is about. */
    run_id: z.string().optional(),
    status: z.enum(ABUSE_STATUSES),
    resolution_reason: z.string().optional(),
    /** The admin who resolved it. */
    resolved_by: z.string().optional(),
    resolved_at: z.number().optional(),
    created_at: z.number(),
  })

export type AbuseReport = z.infer<ReturnType<typeof abuseReport>>

/** The complaints of one status, all apps' together. */
export const abuseReportsBy = (status: AbuseStatus): string => `abuse-reports-${status}`

/** An app's complaints that wait for staff. */
export const openReportsOf = (appId: string): string => `${appId}#ABUSE`

/** A complaint about an app. A change of status writes it whole, so that it moves among the lists. */
export const AbuseReportEntity = defineEntity<AbuseReport>()({
  name: 'abuse-report',
  schema: abuseReport,
  pk: 'ABR#{id}',
  sk: 'ABR',
  directory: ({ status, id }) => ({ list: abuseReportsBy(status), sort: id }),
  list: ({ app_id, status, id }) => (status === 'open' ? { owner: openReportsOf(app_id), sort: id } : undefined),
})

const reportedApp = () =>
  z.object({ workspace_id: z.string(), user_id: z.string(), app_id: z.string(), report_id: z.string() })

/** A person's complaint about an app that waits for an answer; there is one at a time. Gone when it is resolved. */
export const OpenAbuseReportEntity = defineEntity<z.infer<ReturnType<typeof reportedApp>>>()({
  name: 'open-abuse-report',
  schema: reportedApp,
  pk: 'WS#{workspace_id}',
  sk: 'REPORTED#{user_id}#{app_id}',
})

const sentReport = () => z.object({ workspace_id: z.string(), report_id: z.string() })

/** Which complaints come from a workspace; written with the complaint. */
export const SentAbuseReportEntity = defineEntity<z.infer<ReturnType<typeof sentReport>>>()({
  name: 'sent-abuse-report',
  schema: sentReport,
  pk: 'WS#{workspace_id}',
  sk: 'ABUSE#{report_id}',
})
