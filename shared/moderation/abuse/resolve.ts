import { totalMoveWrites } from '#shared/foundation/totals/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { msg } from '#shared/kernel/messages.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import type { ListSource } from '#shared/table/lists.ts'
import {
  ABUSE_STATUSES,
  type AbuseReport,
  AbuseReportEntity,
  type AbuseStatus,
  abuseReportsBy,
  OpenAbuseReportEntity,
} from './entity.ts'
import { type ModeratedAbuseReportView, presentModeratedReport, type ResolveAbuseInput } from './schemas.ts'

/** Returns the lists that hold the complaints of one status, or of all statuses. The totals count the same lists. */
export const abuseLists = (status: AbuseStatus | undefined): string[] =>
  (status === undefined ? ABUSE_STATUSES : [status]).map(abuseReportsBy)

export const abuseSources = (status: AbuseStatus | undefined): ListSource[] =>
  abuseLists(status).map((directory) => ({ directory }))

/**
 * Handles `POST /admin/abuse-reports/{id}/resolve`. If two moderators decide at once, one of them wins. The reporter is
 * notified and may report the app again.
 * @throws `not_found`; `conflict` if the report is already resolved
 */
export const resolveAbuse = async (
  work: Work,
  moderator: Moderator,
  id: string,
  { resolution, reason }: ResolveAbuseInput,
): Promise<ModeratedAbuseReportView> => {
  const report = await work.table.get(AbuseReportEntity, { id })
  if (!report) throw fail('not_found', { message: 'Report not found.' })
  if (report.status !== 'open') throw alreadyResolved(report)
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
        otherwise: (current) => (current ? alreadyResolved(current) : fail('not_found')),
      }),
      OpenAbuseReportEntity.delete({ workspace_id, user_id, app_id }),
      ...totalMoveWrites(abuseReportsBy('open'), abuseReportsBy(resolution), id),
      ...newNotification(work, {
        workspace_id,
        user_id,
        kind: 'abuse.resolved',
        title: msg('Your report about an agent was reviewed'),
        body: SAYS[resolution],
        target: { type: 'abuse_report', id },
      }).writes,
      auditAdmin(work, moderator, 'abuse.resolved', { type: 'abuse_report', id }, { app_id, resolution, reason }),
    ],
    view,
  )
  return view
}

const SAYS = {
  upheld: msg('Platform staff upheld your report and took action.'),
  dismissed: msg('Platform staff found no violation of the rules.'),
} as const

const alreadyResolved = ({ status }: AbuseReport) =>
  fail('conflict', { message: `The report is already ${status}.`, fix: 'List the open reports.' })
