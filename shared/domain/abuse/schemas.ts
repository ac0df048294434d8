import * as z from 'zod'
import { ABUSE_CATEGORIES, ABUSE_STATUSES, type AbuseReport } from '../../entities/abuse.ts'
import { iso } from '../../kernel/clock.ts'
import { idField, line, time } from '../fields.ts'

/** `POST /console/abuse-reports`. */
export const ReportAbuse = () =>
  z
    .strictObject({
      app_id: z.string().meta({ example: 'app_01kae5m1v8w6c3x9q2r7t4y0zn' }),
      category: z.enum(ABUSE_CATEGORIES).default('other'),
      text: line(4_000).meta({
        description: 'What happened. Read by the platform’s staff only.',
        example: 'It asks members for their passwords.',
      }),
      run_id: z.string().optional().meta({
        description: 'A run of the agent in this workspace that shows it.',
        example: 'run_01kae5m1v8w6c3x9q2r7t4y0zn',
      }),
    })
    .meta({ id: 'ReportAbuse' })

export type ReportAbuseInput = z.infer<ReturnType<typeof ReportAbuse>>

const shape = () => ({
  id: idField('abr'),
  app_id: idField('app'),
  category: z.enum(ABUSE_CATEGORIES),
  text: z.string(),
  run_id: idField('run').nullable(),
  status: z.enum(ABUSE_STATUSES).meta({ description: 'upheld: something was done about it. dismissed: nothing was.' }),
  created_at: time(),
})

/** A complaint as whoever made it sees it. */
export const AbuseReportSchema = () => z.object(shape()).meta({ id: 'AbuseReport' })

/** A complaint as the platform’s staff sees it. */
export const ModeratedAbuseReportSchema = () =>
  z
    .object({
      ...shape(),
      workspace_id: idField('ws'),
      reported_by: idField('usr'),
      reason: z.string().nullable().meta({ description: 'Why it was resolved so.' }),
      resolved_by: idField('adm').nullable(),
      resolved_at: time().nullable(),
    })
    .meta({ id: 'ModeratedAbuseReport' })

/** `POST /admin/abuse-reports/{id}/resolve`. */
export const ResolveAbuse = () =>
  z
    .strictObject({
      resolution: z.enum(['upheld', 'dismissed']),
      reason: line(2_000).meta({ description: 'For the platform’s staff.', example: 'The app was suspended.' }),
    })
    .meta({ id: 'ResolveAbuseReport' })

export type ResolveAbuseInput = z.infer<ReturnType<typeof ResolveAbuse>>
export type AbuseReportView = z.infer<ReturnType<typeof AbuseReportSchema>>
export type ModeratedAbuseReportView = z.infer<ReturnType<typeof ModeratedAbuseReportSchema>>

export const presentAbuseReport = (report: AbuseReport): AbuseReportView => ({
  id: report.id,
  app_id: report.app_id,
  category: report.category,
  text: report.text,
  run_id: report.run_id ?? null,
  status: report.status,
  created_at: iso(report.created_at),
})

export const presentModeratedReport = (report: AbuseReport): ModeratedAbuseReportView => ({
  ...presentAbuseReport(report),
  workspace_id: report.workspace_id,
  reported_by: report.user_id,
  reason: report.resolution_reason ?? null,
  resolved_by: report.resolved_by ?? null,
  resolved_at: report.resolved_at === undefined ? null : iso(report.resolved_at),
})
