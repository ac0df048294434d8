import {
  ABUSE_STATUSES,
  type AbuseReport,
  AbuseReportEntity,
  type AbuseStatus,
  abuseReportsBy,
  OpenAbuseReportEntity,
} from '../../entities/abuse.ts'
import { fail } from '../../kernel/errors.ts'
import type { ListSource } from '../../table/lists.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { newNotification } from '../notifications/new.ts'
import { movedBetween } from '../totals.ts'
import { type ModeratedAbuseReportView, presentModeratedReport, type ResolveAbuseInput } from './schemas.ts'

/** The lists that hold the complaints of one status, or of all; by them they are counted too. */
export const abuseLists = (status: AbuseStatus | undefined): string[] =>
  (status === undefined ? ABUSE_STATUSES : [status]).map(abuseReportsBy)

export const abuseSources = (status: AbuseStatus | undefined): ListSource[] =>
  abuseLists(status).map((directory) => ({ directory }))

/**
 * `POST /admin/abuse-reports/{id}/resolve`: of two moderators one decides. Whoever complained is notified, and may complain again.
 * @throws `not_found`; `conflict` for one that is resolved
 */
export const resolveAbuse = async (
  work: Work,
  moderator: Moderator,
  id: string,
  { resolution, reason }: ResolveAbuseInput,
): Promise<ModeratedAbuseReportView> => {
  const report = await work.table.get(AbuseReportEntity, { id })
  if (!report) throw fail('not_found', { message: 'There is no such report.' })
  if (report.status !== 'open') throw resolvedAlready(report)
  const { workspace_id, user_id, app_id } = report
  const resolved: AbuseReport = {
    ...report,
    status: resolution,
    resolution_reason: reason,
    resolved_by: moderator.admin.id,
    resolved_at: work.clock.now(),
  }
  const view = presentModeratedReport(resolved)
  await work.commit(
    [
      AbuseReportEntity.replace(resolved, {
        where: { status: 'open' },
        otherwise: (current) => (current ? resolvedAlready(current) : fail('not_found')),
      }),
      OpenAbuseReportEntity.delete({ workspace_id, user_id, app_id }),
      ...movedBetween(abuseReportsBy('open'), abuseReportsBy(resolution), id),
      ...newNotification(work, {
        workspace_id,
        user_id,
        kind: 'abuse.resolved',
        title: 'Your report about an agent was looked at',
        body: SAYS[resolution],
        target: { type: 'abuse_report', id },
      }).writes,
      auditStaff(work, moderator, 'abuse.resolved', { type: 'abuse_report', id }, { app_id, resolution, reason }),
    ],
    view,
  )
  return view
}

const SAYS = {
  upheld: 'The platform’s staff agreed and did something about it.',
  dismissed: 'The platform’s staff found nothing that goes against the rules.',
} as const

const resolvedAlready = ({ status }: AbuseReport) =>
  fail('conflict', { message: `The report was ${status} already.`, fix: 'List those that are open.' })
