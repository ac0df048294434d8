import * as z from 'zod'
import { idField, line, time } from '#shared/foundation/schemas/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { ABUSE_CATEGORIES, ABUSE_STATUSES, type AbuseReport } from './entity.ts'

/** Body of `POST /console/abuse-reports`. */
export const ReportAbuse = () =>
  z
    .strictObject({
      app_id: z.string().meta({ example: 'app_01kae5m1v8w6c3x9q2r7t4y0zn' }),
      category: z.enum(ABUSE_CATEGORIES).default('other'),
      text: line(4_000).meta({
        description: 'What happened. Only admins of the platform can read it.',
        example: 'It asks members for their passwords.',
      }),
      run_id: z.string().optional().meta({
        description: 'A run of the agent in this workspace that shows the problem.',
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
  status: z
    .enum(ABUSE_STATUSES)
    .meta({ description: 'upheld: the platform took action. dismissed: no violation was found.' }),
  created_at: time(),
})

/** A complaint as its reporter sees it. */
export const AbuseReportSchema = () => z.object(shape()).meta({ id: 'AbuseReport' })

/** A complaint as an admin sees it. */
export const ModeratedAbuseReportSchema = () =>
  z
    .object({
      ...shape(),
      workspace_id: idField('ws'),
      reported_by: idField('usr'),
      reason: z.string().nullable().meta({ description: 'Reason for the decision.' }),
      resolved_by: idField('adm').nullable(),
      resolved_at: time().nullable(),
    })
    .meta({ id: 'ModeratedAbuseReport' })

/** Body of `POST /admin/abuse-reports/{id}/resolve`. */
export const ResolveAbuse = () =>
  z
    .strictObject({
      resolution: z.enum(['upheld', 'dismissed']),
      reason: line(2_000).meta({ description: 'Visible to admins only.', example: 'The app was suspended.' }),
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
