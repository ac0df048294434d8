import { refresh } from '../../../ui/data.ts'
import { Choice, Filters, filters } from '../../../ui/filters.tsx'
import { humanize } from '../../../ui/format.ts'
import { Screen } from '../../../ui/screen.tsx'
import { Prose, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { Decide } from '../ui/decide.tsx'
import { Listing } from '../ui/listing.tsx'

type Report = Schemas['ModeratedAbuseReport']

const REASON = { label: 'Reason', hint: 'Only staff can see this. The reporter learns only the outcome.' }

const Resolve = ({ id, resolution }: { id: string; resolution: 'upheld' | 'dismissed' }) => (
  <Decide
    label={resolution === 'upheld' ? 'Uphold' : 'Dismiss'}
    title={resolution === 'upheld' ? 'Uphold this report?' : 'Dismiss this report?'}
    {...(resolution === 'upheld' && { tone: 'primary' as const })}
    reason={REASON}
    done={resolution === 'upheld' ? 'Report upheld.' : 'Report dismissed.'}
    act={async (reason) => {
      await unwrap(
        api.POST('/admin/abuse-reports/{id}/resolve', { params: { path: { id } }, body: { resolution, reason } }),
      )
      await refresh('abuse', 'app ', 'overview')
    }}
  >
    <p>
      {resolution === 'upheld'
        ? 'Describe the action taken. To delist or suspend the app, go to the app’s page.'
        : 'Explain why no action is needed.'}
    </p>
  </Decide>
)

export const ReportView = ({ report, alone }: { report: Report; alone?: boolean }) => (
  <article class="entry-body">
    <p>
      <strong>{humanize(report.category)}</strong> <State name={report.status} />{' '}
      <span class="soft">
        <When at={report.created_at} />
      </span>
    </p>
    <Prose text={report.text} />
    <p class="hint">
      {!alone && (
        <>
          <a href={`#/apps/${report.app_id}`}>View app</a> ·{' '}
        </>
      )}
      <a href={`#/runs?app=${report.app_id}`}>View runs</a> · from workspace <code>{report.workspace_id}</code>
      {report.run_id && (
        <>
          {' '}
          · about run <code>{report.run_id}</code>
        </>
      )}
    </p>
    {report.reason && (
      <div class="note">
        <p>
          Resolved
          {report.resolved_at && (
            <>
              {' '}
              <When at={report.resolved_at} />
            </>
          )}
          . Reason:
        </p>
        <Prose text={report.reason} />
      </div>
    )}
    {report.status === 'open' && (
      <div class="actions">
        <Resolve id={report.id} resolution="upheld" />
        <Resolve id={report.id} resolution="dismissed" />
      </div>
    )}
  </article>
)

export default function AbuseReports() {
  const query = filters('status') as { status?: Report['status'] }
  return (
    <Screen title="Abuse reports">
      <Filters>
        <Choice name="status" label="Status" options={['open', 'upheld', 'dismissed']} />
      </Filters>
      <Listing
        name={`abuse ${JSON.stringify(query)}`}
        none="No matching reports"
        read={(at) => unwrap(api.GET('/admin/abuse-reports', { params: { query: { ...query, ...at } } }))}
      >
        {(report) => <ReportView report={report} />}
      </Listing>
    </Screen>
  )
}
