import {
  type AbuseReport,
  AbuseReportEntity,
  abuseReportsBy,
  OpenAbuseReportEntity,
  SentAbuseReportEntity,
} from '../../entities/abuse.ts'
import { AppEntity, ListedAppEntity } from '../../entities/apps.ts'
import { AppInstallationEntity } from '../../entities/installations.ts'
import { RunEntity, WorkspaceRunEntity } from '../../entities/runs.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { counted } from '../totals.ts'
import { type AbuseReportView, presentAbuseReport, type ReportAbuseInput } from './schemas.ts'

/**
 * `POST /console/abuse-reports`: a complaint about an app that the marketplace shows, or that the organization has or had
 * installed. Each person has one about an app that waits for an answer.
 * @throws `not_found` for any other app; `validation_error` for a run that is not the app's in this workspace; `conflict`
 * while the person's last one about it is open
 */
export const reportAbuse = async (
  work: Work,
  { workspaceId: workspace_id, userId: user_id }: { workspaceId: string; userId: string },
  { app_id, category, text, run_id }: ReportAbuseInput,
): Promise<AbuseReportView> => {
  if (!isId('app', app_id)) throw noApp()
  const open = { workspace_id, user_id, app_id }
  const [app, listed, installed, known] = await work.table.getAll([
    { entity: AppEntity, key: AppEntity.key({ id: app_id }) },
    { entity: ListedAppEntity, key: ListedAppEntity.key({ app_id }) },
    { entity: AppInstallationEntity, key: AppInstallationEntity.key({ workspace_id, app_id }) },
    { entity: OpenAbuseReportEntity, key: OpenAbuseReportEntity.key(open) },
  ])
  if (!app || !(listed || installed)) throw noApp()
  if (known) throw waiting(known.report_id)
  if (run_id !== undefined) await checkRun(work, workspace_id, app_id, run_id)
  const report: AbuseReport = {
    id: work.id('abuseReport'),
    app_id,
    workspace_id,
    user_id,
    category,
    text,
    run_id,
    status: 'open',
    created_at: work.clock.now(),
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
      counted(abuseReportsBy('open'), report.id, 1),
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
    message: 'There is no such run of this app.',
    details: { fields: { run_id: ['must be a run of the app in this workspace'] } },
  })
}

const noApp = () => fail('not_found', { message: 'There is no such app.' })

const waiting = (report_id: string | undefined): PlatformError =>
  fail('conflict', {
    message: 'Your last report about this app waits for an answer.',
    fix: 'Wait until the platform’s staff has resolved it.',
    details: { ...(report_id !== undefined && { report_id }) },
  })
