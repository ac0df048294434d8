import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

export const ABUSE_CATEGORIES = ['malicious', 'misleading', 'data_misuse', 'inappropriate', 'spam', 'other'] as const
export const ABUSE_STATUSES = ['open', 'upheld', 'dismissed'] as const
export type AbuseStatus = (typeof ABUSE_STATUSES)[number]

const abuseReport = () =>
  z.object({
    id: z.string(),
    app_id: z.string(),
    workspace_id: z.string(),
    /** The person who filed the report. */
    user_id: z.string(),
    category: z.enum(ABUSE_CATEGORIES),
    text: z.string(),
    /** The run that the report is about. */
    run_id: z.string().optional(),
    status: z.enum(ABUSE_STATUSES),
    resolution_reason: z.string().optional(),
    /** The admin who resolved it. */
    resolved_by: z.string().optional(),
    resolved_at: z.number().optional(),
    created_at: createdAt(),
  })

export type AbuseReport = z.infer<ReturnType<typeof abuseReport>>

/** List of all abuse reports with one status. */
export const abuseReportsBy = (status: AbuseStatus): string => `abuse-reports-${status}`

/** List of an app's open reports. */
export const openReportsOf = (appId: string): string => `${appId}#ABUSE`

/** A complaint about an app. Each status change rewrites the whole record, which moves it between lists. */
export const AbuseReportEntity = defineEntity({
  name: 'abuse-report',
  schema: abuseReport,
  pk: 'ABR#{id}',
  sk: 'ABR',
  personal: { text: ['text'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  directory: ({ status, id }) => ({ list: abuseReportsBy(status), sort: id }),
  list: ({ app_id, status, id }) => (status === 'open' ? { owner: openReportsOf(app_id), sort: id } : undefined),
})

const reportedApp = () =>
  z.object({ workspace_id: z.string(), user_id: z.string(), app_id: z.string(), report_id: z.string() })

/**
 * Marks a person's open complaint about an app. Each person has at most one; it is deleted when the complaint is
 * resolved.
 */
export const OpenAbuseReportEntity = defineEntity({
  name: 'open-abuse-report',
  schema: reportedApp,
  pk: 'WS#{workspace_id}',
  sk: 'REPORTED#{user_id}#{app_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const sentReport = () => z.object({ workspace_id: z.string(), report_id: z.string() })

/** Records which complaints a workspace sent. Written in the complaint's transaction. */
export const SentAbuseReportEntity = defineEntity({
  name: 'sent-abuse-report',
  schema: sentReport,
  pk: 'WS#{workspace_id}',
  sk: 'ABUSE#{report_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})
