import { AppInstallationEntity } from '#shared/access/installations/index.ts'
import { AppEntity, ListedAppEntity } from '#shared/catalogue/apps/index.ts'
import { totalWrite } from '#shared/foundation/totals/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { isId, stampOf } from '#shared/kernel/ids.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { RunEntity, WorkspaceRunEntity } from '#shared/work/runs/index.ts'
import {
  type AbuseReport,
  AbuseReportEntity,
  abuseReportsBy,
  OpenAbuseReportEntity,
  SentAbuseReportEntity,
} from './entity.ts'
import { type AbuseReportView, presentAbuseReport, type ReportAbuseInput } from './schemas.ts'

/**
 * Handles `POST /console/abuse-reports`. The app must be in the marketplace, or be or have been installed in the
 * workspace. Each person may have one open report per app.
 * @throws `not_found` for any other app; `validation_error` for a run that is not the app's in this workspace;
 * `conflict` while the person's last report about it is open
 */
export const reportAbuse = async (
  work: Work,
  { workspaceId: workspace_id, userId: user_id }: { workspaceId: string; userId: string },
  { app_id, category, text, run_id }: ReportAbuseInput,
): Promise<AbuseReportView> => {
  if (!isId('app', app_id)) throw noApp()
  const open = { workspace_id, user_id, app_id }
  const [app, listed, installed, known] = await work.table.getAll([
    AppEntity.ref({ id: app_id }),
    ListedAppEntity.ref({ app_id }),
    AppInstallationEntity.ref({ workspace_id, app_id }),
    OpenAbuseReportEntity.ref(open),
  ])
  if (!app || !(listed || installed)) throw noApp()
  if (known) throw waiting(known.report_id)
  if (run_id !== undefined) await checkRun(work, workspace_id, app_id, run_id)
  const report: AbuseReport = {
    ...stampOf(work.id('abuseReport')),
    app_id,
    workspace_id,
    user_id,
    category,
    text,
    run_id,
    status: 'open',
  }
  const view = presentAbuseReport(report)
  await work.commit(
    [
      AbuseReportEntity.create(report),
      OpenAbuseReportEntity.create(
        { ...open, report_id: report.id },
        { otherwise: (current) => waiting((current as { report_id?: string } | undefined)?.report_id) },
      ),
      SentAbuseReportEntity.create({ workspace_id, report_id: report.id }),
      totalWrite(abuseReportsBy('open'), report.id, 1),
      auditPerson(
        work,
        { workspaceId: workspace_id, userId: user_id },
        'abuse.reported',
        { type: 'app', id: app_id },
        { report_id: report.id, category },
      ),
    ],
    view,
  )
  return view
}

const checkRun = async ({ table }: Pick<Work, 'table'>, workspace_id: string, app_id: string, id: string) => {
  const place = isId('run', id) ? await table.get(WorkspaceRunEntity, { workspace_id, run_id: id }) : undefined
  const run = place && (await table.get(RunEntity, { installation_id: place.installation_id, id }))
  if (run?.app_id === app_id) return
  throw fail('validation_error', {
    message: 'The app has no such run.',
    details: { fields: { run_id: ['must be a run of the app in this workspace'] } },
  })
}

const noApp = () => fail('not_found', { message: 'App not found.' })

const waiting = (report_id: string | undefined): PlatformError =>
  fail('conflict', {
    message: 'Your last report about this app is still open.',
    fix: 'Wait until an admin has resolved it.',
    details: { ...(report_id !== undefined && { report_id }) },
  })
