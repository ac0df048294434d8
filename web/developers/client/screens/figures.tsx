import { DayChart } from '../../../ui/chart.tsx'
import { csvOf } from '../../../ui/csv.ts'
import { useData } from '../../../ui/data.ts'
import { Choice, Filters, filter } from '../../../ui/filters.tsx'
import { count, duration } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { Shown } from '../../../ui/screen.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { type App, AppScreen } from '../ui/app-screen.tsx'
import { DurationChart } from '../ui/duration-chart.tsx'
import { percent, VersionTable } from '../ui/version-table.tsx'

type Stats = Schemas['AppStats']

const COLUMNS = ['date', 'installed', 'removed', 'runs', 'succeeded', 'failed', 'cancelled'] as const

const COUNTS = ['installed', 'runs', 'succeeded', 'failed', 'cancelled'] as const

/** Offers a text as a download. */
const download = (name: string, text: string): void => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = name
  link.click()
  // By then the download has started, so the memory can be freed.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

type Durations = Stats['daily'][number]['duration_ms']

const timesOf = (durations: Durations) => [durations?.p50, durations?.p95]

const csvByDay = ({ daily }: Stats): string =>
  csvOf([
    [...COLUMNS, 'p50_ms', 'p95_ms'],
    ...daily.map((day) => [...COLUMNS.map((name) => day[name]), ...timesOf(day.duration_ms)]),
  ])

const csvByVersion = ({ versions }: Stats): string =>
  csvOf([
    ['version', ...COUNTS, 'success_rate', 'p50_ms', 'p95_ms'],
    ...versions.map((one) => [
      one.version,
      ...COUNTS.map((name) => one[name]),
      one.success_rate,
      ...timesOf(one.duration_ms),
    ]),
  ])

const time = (ms: number | null | undefined): string => (ms === null || ms === undefined ? '–' : duration(ms))

const Blocks = ({ title, of }: { title: string; of: Stats | Stats['sandbox'] }) => (
  <section class="section">
    <h2>{title}</h2>
    <dl class="figures">
      <div>
        <dt>{t('Active installations')}</dt>
        <dd>{count(of.installations)}</dd>
      </div>
      <div>
        <dt>{t('Runs')}</dt>
        <dd>{count(of.runs)}</dd>
      </div>
      <div>
        <dt>{t('Failed')}</dt>
        <dd>{count(of.failed)}</dd>
      </div>
      <div>
        <dt>{t('Succeeded')}</dt>
        <dd>{percent(of.success_rate)}</dd>
      </div>
      <div>
        <dt>{t('Median')}</dt>
        <dd>{time(of.duration_ms?.p50)}</dd>
      </div>
      <div>
        <dt>{t('95% within')}</dt>
        <dd>{time(of.duration_ms?.p95)}</dd>
      </div>
    </dl>
  </section>
)

const Figures = ({ app }: { app: App }) => {
  const days = filter('days') || '30'
  const known = useData(`app ${app.id} stats ${days}`, () =>
    unwrap(api.GET('/api/v1/dev/apps/{id}/stats', { params: { path: { id: app.id }, query: { days } } })),
  )
  return (
    <Shown known={known} rows={3} tall>
      {(stats) => {
        const dates = stats.daily.map(({ date }) => date)
        const values = (name: (typeof COLUMNS)[number]) => stats.daily.map((day) => Number(day[name]))
        return (
          <>
            <div class="head">
              <Filters>
                <Choice
                  name="days"
                  label={t('Period')}
                  all={t('30 days')}
                  options={{ 7: t('7 days'), 90: t('90 days') }}
                />
              </Filters>
              <div class="actions">
                <button type="button" onClick={() => download(`${app.slug}-${days}-days.csv`, csvByDay(stats))}>
                  {t('Days as CSV')}
                </button>
                <button type="button" onClick={() => download(`${app.slug}-versions.csv`, csvByVersion(stats))}>
                  {t('Versions as CSV')}
                </button>
              </div>
            </div>
            <Blocks title={t('Customers')} of={stats} />
            <Blocks title={t('Sandbox')} of={stats.sandbox} />
            <section class="section">
              <h2>{t('By day')}</h2>
              <div class="charts">
                <DayChart
                  title={t('Runs')}
                  days={dates}
                  series={[
                    { name: t('Succeeded'), tone: 'one', values: values('succeeded') },
                    { name: t('Failed'), tone: 'two', values: values('failed') },
                    { name: t('Cancelled'), tone: 'three', values: values('cancelled') },
                  ]}
                />
                <DayChart
                  title={t('Installations')}
                  days={dates}
                  series={[
                    { name: t('Installed'), tone: 'one', values: values('installed') },
                    { name: t('Removed'), tone: 'two', values: values('removed') },
                  ]}
                />
                <DurationChart days={stats.daily.map(({ date, duration_ms }) => ({ date, durations: duration_ms }))} />
              </div>
            </section>
            <section class="section">
              <h2>{t('By version')}</h2>
              <VersionTable versions={stats.versions} />
            </section>
            <p class="hint">{t('Days are in UTC. The figures lag by a few seconds.')}</p>
          </>
        )
      }}
    </Shown>
  )
}

export default function FiguresScreen({ id }: { id: string }) {
  return (
    <AppScreen id={id} title={t('Figures')}>
      {(app) => <Figures app={app} />}
    </AppScreen>
  )
}
