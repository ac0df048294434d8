import { DayChart } from '../../../ui/chart.tsx'
import { useData } from '../../../ui/data.ts'
import { filter, setFilter } from '../../../ui/filters.tsx'
import { Field } from '../../../ui/form.tsx'
import { count, fullTime, humanize } from '../../../ui/format.ts'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { api, type Schemas, unwrap } from '../api.ts'

type Totals = Schemas['PlatformOverview']

/** Queues of moderation, and where to handle them. */
const WAITING: Record<keyof Totals['waiting'], { label: string; to: string }> = {
  apps_in_review: { label: 'Apps to review', to: '/review?kind=app' },
  versions_in_review: { label: 'Versions to review', to: '/review?kind=version' },
  revisions_in_review: { label: 'Changes to review', to: '/review?kind=revision' },
  abuse_reports: { label: 'Open abuse reports', to: '/abuse-reports?status=open' },
  verifications: { label: 'Verification requests', to: '/verifications?status=pending' },
}

const Figure = ({ label, value, to, more }: { label: string; value: number; to?: string; more?: string }) => (
  <div class={value === 0 ? 'none' : undefined}>
    <dt>{label}</dt>
    <dd>
      {to ? <a href={`#${to}`}>{count(value)}</a> : count(value)}
      {more && <span class="hint">{more}</span>}
    </dd>
  </div>
)

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((all, one) => all + one, 0)

/** Describes the counts that aren't zero. */
const parts = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${count(value)} ${humanize(name).toLowerCase()}`)
    .join(', ')

const TotalsNow = ({ totals }: { totals: Totals }) => {
  const { developers, apps, workspaces, installations, runs, webhook_deliveries: deliveries, waiting } = totals
  const names = Object.keys(WAITING) as (keyof Totals['waiting'])[]
  return (
    <>
      <section>
        <h2>Waiting for moderation</h2>
        <dl class="figures">
          {names.map((name) => (
            <Figure key={name} label={WAITING[name].label} value={waiting[name]} to={WAITING[name].to} />
          ))}
        </dl>
      </section>
      <section class="section">
        <h2>Totals</h2>
        <dl class="figures">
          <Figure label="Apps" value={apps.total} to="/apps" more={parts(apps.by_status)} />
          <Figure
            label="Developers"
            value={developers.total}
            to="/developers"
            more={parts({ verified: developers.verified, blocked: developers.blocked })}
          />
          <Figure
            label="Workspaces"
            value={sum(workspaces.customer)}
            to="/workspaces"
            more={`${count(sum(workspaces.sandbox))} sandboxes`}
          />
          <Figure label="Installations" value={sum(installations)} more={parts(installations)} />
          <Figure label="Active runs" value={runs.active} to="/runs?status=active" />
          <Figure
            label="Runs today"
            value={runs.today.created}
            to="/runs"
            more={parts({
              succeeded: runs.today.succeeded,
              failed: runs.today.failed,
              cancelled: runs.today.cancelled,
            })}
          />
          <Figure
            label="Webhooks today"
            value={sum(deliveries.today)}
            more={parts({ delivered: deliveries.today.succeeded, failed: deliveries.today.failed })}
          />
        </dl>
        <p class="hint">Updated {fullTime(totals.as_of)}.</p>
      </section>
    </>
  )
}

type Day = Schemas['PlatformMetrics']['daily'][number]

/** @param earlier as many days before these, to compare with */
const Charts = ({ daily, earlier }: { daily: Day[]; earlier: Day[] | undefined }) => {
  const days = daily.map(({ date }) => date)
  const before = (of: (day: Day) => number) => earlier?.map(of)
  return (
    <div class="charts">
      <DayChart
        title="Runs"
        days={days}
        series={[
          { name: 'Succeeded', tone: 'one', values: daily.map(({ runs }) => runs.succeeded) },
          { name: 'Failed', tone: 'two', values: daily.map(({ runs }) => runs.failed) },
          { name: 'Cancelled', tone: 'three', values: daily.map(({ runs }) => runs.cancelled) },
        ]}
        before={before(({ runs }) => runs.succeeded + runs.failed + runs.cancelled)}
      />
      <DayChart
        title="Installations"
        days={days}
        series={[
          { name: 'Installed', tone: 'one', values: daily.map(({ installed }) => installed) },
          { name: 'Uninstalled', tone: 'two', values: daily.map(({ uninstalled }) => uninstalled) },
        ]}
        before={before(({ installed, uninstalled }) => installed + uninstalled)}
      />
      <DayChart
        title="New records"
        days={days}
        series={[
          { name: 'Workspaces', tone: 'one', values: daily.map(({ new_workspaces }) => new_workspaces) },
          { name: 'Developers', tone: 'two', values: daily.map(({ new_developers }) => new_developers) },
          { name: 'Apps', tone: 'three', values: daily.map(({ new_apps }) => new_apps) },
        ]}
        before={before((day) => day.new_workspaces + day.new_developers + day.new_apps)}
      />
      <DayChart
        title="Webhooks"
        days={days}
        series={[
          { name: 'Delivered', tone: 'one', values: daily.map(({ webhook_deliveries: one }) => one.succeeded) },
          { name: 'Failed', tone: 'two', values: daily.map(({ webhook_deliveries: one }) => one.failed) },
        ]}
        before={before(({ webhook_deliveries: one }) => one.succeeded + one.failed)}
      />
    </div>
  )
}

export default function Overview() {
  const days = filter('days') || '30'
  const totals = useData('overview', () => unwrap(api.GET('/admin/overview')))
  const shown = Number(days)
  // The API returns 90 days at most, so the longest period has nothing to compare with.
  const asked = String(shown > 45 ? shown : 2 * shown)
  const metrics = useData(`metrics ${asked}`, () =>
    unwrap(api.GET('/admin/metrics', { params: { query: { days: asked } } })),
  )
  return (
    <Screen title="Overview" wide>
      <Shown known={totals}>{(now) => <TotalsNow totals={now} />}</Shown>
      <section class="section">
        <div class="head">
          <h2>Daily activity</h2>
          <Field label="Period">
            {(field) => (
              <select {...field} value={days} onChange={({ currentTarget }) => setFilter('days', currentTarget.value)}>
                <option value="7">7 days</option>
                <option value="30">30 days</option>
                <option value="90">90 days</option>
              </select>
            )}
          </Field>
        </div>
        <Shown known={metrics} tall>
          {({ daily }) => (
            <Charts
              daily={daily.slice(-shown)}
              earlier={daily.length === 2 * shown ? daily.slice(0, shown) : undefined}
            />
          )}
        </Shown>
        <p class="hint">
          Days are in UTC. Dashed lines show the same number of days before. Charts can lag by a few seconds.
        </p>
      </section>
    </Screen>
  )
}
